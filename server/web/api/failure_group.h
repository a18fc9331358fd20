#pragma once

#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::web::api {

// A reason for failures: status, phase, class, code, and the first line of the message with its numbers replaced.
struct FailureReason {
  std::string status;
  std::string phase;
  std::string error_class;
  std::string code;
  std::string message;

  // Returns the id of the group, 16 hex digits.
  std::string Id() const;
};

// Returns the reason of a failed row. `failure`: whole_measurements.failure, which may be cut within the message, or
// empty.
FailureReason ReasonOf(const std::string& status, std::string_view failure);

// Returns the first line of a message, in which each number, address and hash is replaced by "#".
std::string GeneralMessage(std::string_view message);

// Returns phase, class, code and message as one text, or an empty text.
std::string FailureText(std::string_view failure);

}  // namespace telemetry::web::api
