#include "server/http/refusal.h"

#include <boost/beast/http/error.hpp>

#include "proto/log/log.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"

namespace telemetry::http {
namespace {

constexpr char kWrongHost[] = "telemetry.http/wrong_host";

int StatusOf(const absl::Status& error) {
  if (error.GetPayload(kWrongHost).has_value()) return 421;
  switch (error.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

Response ErrorResponse(int status, std::string_view message) {
  Response response = {
      .status = status, .content_type = "application/json", .headers = {{"Cache-Control", "no-store"}}};
  response.body = R"({"error": {"message": )";
  record::AppendJsonString(message, &response.body);
  response.body += "}}\n";
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response ErrorResponse(const absl::Status& error) {
  const int status = StatusOf(error);
  const absl::string_view message = error.message();
  if (status < 500) return ErrorResponse(status, {message.data(), message.size()});
  log::Warn("a request failed", {{"reason", error.ToString()}});
  return ErrorResponse(status, status == 503 ? "the dataset is not available at the moment; try again"
                                             : "the server could not answer; its log contains the reason");
}

absl::Status WrongHost(const absl::Status& error) {
  absl::Status marked = error;
  marked.SetPayload(kWrongHost, absl::Cord("1"));
  return marked;
}

Response Overloaded() { return ErrorResponse(503, "the server is busy; try again"); }

Response RefuseUnreadable(const boost::system::error_code& error) {
  using Reason = boost::beast::http::error;
  if (error == Reason::header_limit || error == Reason::buffer_overflow) {
    return ErrorResponse(431, "the head of the request is too long");
  }
  if (error == Reason::bad_transfer_encoding) {
    return ErrorResponse(411, "the body of a request needs a Content-Length and no Transfer-Encoding");
  }
  if (error == Reason::body_limit) return ErrorResponse(413, "the body of the request is too long");
  return ErrorResponse(400, "the request is not HTTP/1.1");
}

}  // namespace telemetry::http
