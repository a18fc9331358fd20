#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/target.h"

namespace telemetry::http {

// A request that passed the checks of the server. The headers are those that handlers use; an absent one is empty.
struct Request {
  std::string method;
  Target target;
  std::string host;
  std::string origin;
  std::string authorization;
  std::string cookie;
  std::string content_type;
  std::string if_none_match;
  std::string requested_with;  // X-Requested-With
  bool accepts_gzip = false;
  std::string body;
  std::string network;  // of the client, as net::Network prints it
  bool is_secure = false;

  bool is_read() const { return method == "GET" || method == "HEAD"; }
};

// A source of text that is sent piece by piece until it ends, such as server-sent events. Thread-safe.
class BodyStream {
 public:
  virtual ~BodyStream() = default;

  // Appends the text that is ready. Calls `wake` later, on any thread, if there is none; a later call replaces `wake`,
  // which may outlive the server. Returns false if nothing follows `text`; Take is not called again then.
  virtual bool Take(std::string* text, std::function<void()> wake) = 0;
  // Called once if the client has disconnected, or does not read, before the stream's end.
  virtual void Close() = 0;
};

// The answer to a request. Exactly one of `body`, `shared_body` and `stream` contains the body.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string_view shared_body;  // of static storage
  std::shared_ptr<BodyStream> stream;

  std::string_view content() const { return shared_body.empty() ? std::string_view(body) : shared_body; }
};

// Answers requests. `respond` is called on any thread, and may be called before Handle returns or after the server's
// end. Only its first call counts; if it is destroyed without a call, the response is 500.
class Handler {
 public:
  using Respond = std::function<void(Response)>;

  virtual ~Handler() = default;
  virtual void Handle(Request request, Respond respond) = 0;
};

// Returns the reason phrase of a status: "Not Found" for 404.
std::string_view ReasonPhrase(int status);

// The end of the body that a response has on the wire.
enum class Framing { kNone, kLength, kChunks, kEndOfConnection };

// Returns the framing of the response. Only HTTP/1.1 has chunks; a stream to an older client ends with the connection.
Framing FramingOf(const Response& response, bool is_http_1_0);

// Returns the head of the response to a request, with the headers that every response has. A header with a control
// character is left out.
std::string FormatHead(const Response& response, Framing framing, bool keep_alive);

}  // namespace telemetry::http
