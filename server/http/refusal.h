#pragma once

#include <boost/system/error_code.hpp>
#include <string_view>

#include "absl/status/status.h"
#include "server/http/message.h"

namespace telemetry::http {

// Returns the response with this status and {"error": {"message": ...}} as its body.
Response ErrorResponse(int status, std::string_view message);

// Returns the response for an error: 400 INVALID_ARGUMENT, 401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 NOT_FOUND,
// 421 of WrongHost, 429 RESOURCE_EXHAUSTED, 503 UNAVAILABLE, ABORTED and FAILED_PRECONDITION, else 500 without the
// error's message.
Response ErrorResponse(const absl::Status& error);

// Marks the error of a wrong Host header.
absl::Status WrongHost(const absl::Status& error);

// Returns the response for a server that is busy: 503 with Retry-After.
Response Overloaded();

// Returns the response to bytes that RequestParser cannot read.
Response RefuseUnreadable(const boost::system::error_code& error);

}  // namespace telemetry::http
