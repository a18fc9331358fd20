// Fuzzes the parsers of HTTP requests: the requests do not depend on the parts in which the bytes arrive, each stays
// within the limits, and no target leads out of a folder.

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/accept_encoding.h"
#include "server/http/cookie.h"
#include "server/http/origin_check.h"
#include "server/http/refusal.h"
#include "server/http/request_parser.h"
#include "server/http/target.h"
#include "tests/fuzz/fuzz.h"

namespace telemetry::http {
namespace {

using fuzz::Require;
using State = RequestParser::State;

constexpr uint32_t kHeadBytes = 2048;
constexpr uint64_t kBodyBytes = 256;

void CheckTarget(const Target& target) {
  Require(target.path.starts_with('/'), "a path begins with a slash");
  Require(target.query.size() <= kMostParameters, "the number of parameters is limited");
  for (const std::string& segment : target.segments) {
    Require(!segment.empty() && segment != "." && segment != "..", "a path is canonical");
    Require(segment.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos, "a segment is one name");
  }
}

void CheckRequest(const Request& request) {
  CheckTarget(request.target);
  Require(request.body.size() <= kBodyBytes, "the body is limited");
  for (const std::string* header : {&request.host, &request.cookie, &request.authorization}) {
    Require(header->find_first_of("\r\n") == std::string::npos, "a header is one line");
  }
  const OriginCheck origins("127.0.0.1:4748", {"telemetry.example.org"});
  if (origins.CheckHost(request.host).ok()) {
    Require(OriginCheck::CheckOrigin("http://" + request.host, request.host, false).ok(), "its own page is accepted");
  }
  OriginCheck::CheckOrigin(request.origin, request.host, true).IgnoreError();
  const std::string_view value = FindCookie(request.cookie, "session");
  Require(value.find(';') == std::string_view::npos, "the value of a cookie ends before the next one");
}

// Returns a text for each request, and for the error that ends them. Each part has at most `part` bytes.
std::vector<std::string> ReadRequests(std::string_view bytes, size_t part) {
  RequestParser parser(kHeadBytes, kBodyBytes);
  std::vector<std::string> seen;
  State state = State::kNeedsMore;
  while (state != State::kUnreadable) {
    if (state == State::kDone) {
      const absl::StatusOr<Request> request = parser.Take();
      if (request.ok()) CheckRequest(*request);
      seen.push_back(request.ok() ? request->method + request->target.path + request->body
                                  : request.status().ToString());
      parser.Next();
    } else {
      if (bytes.empty()) return seen;
      const boost::asio::mutable_buffer space = parser.Space();
      const size_t size = std::min({part, space.size(), bytes.size()});
      Require(size > 0, "there is space for more bytes");
      std::memcpy(space.data(), bytes.data(), size);
      parser.Commit(size);
      bytes.remove_prefix(size);
    }
    state = parser.Parse();
  }
  const int status = RefuseUnreadable(parser.error()).status;
  Require(status == 400 || status == 411 || status == 413 || status == 431,
          "an unreadable request is the client's mistake");
  seen.emplace_back("unreadable");
  return seen;
}

}  // namespace
}  // namespace telemetry::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::http;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> at_once = ReadRequests(bytes, bytes.size());
  telemetry::fuzz::Require(at_once == ReadRequests(bytes, 1), "the parts of the bytes do not matter");
  if (const absl::StatusOr<Target> target = ParseTarget(bytes); target.ok()) CheckTarget(*target);
  AcceptsGzip(bytes);
  return 0;
}
