#include "server/http/request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/http/accept_encoding.h"

namespace telemetry::http {
namespace {

namespace beast = boost::beast;
using Field = beast::http::field;
using Error = boost::system::error_code;
using Head = beast::http::request_header<>;

constexpr size_t kReadBytes = 2048;

// Returns true for a control character that no head contains.
bool IsForbidden(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f;
}

std::string Text(beast::string_view text) { return {text.data(), text.size()}; }

// The server and a proxy in front of it could use different values of a repeated header.
absl::Status CheckIsNotRepeated(const Head& head) {
  for (const Field name : {Field::host, Field::origin, Field::authorization, Field::cookie, Field::content_type}) {
    if (head.count(name) <= 1) continue;
    return absl::InvalidArgumentError(
        record::Cat("the request repeats the header ", Text(beast::http::to_string(name))));
  }
  return absl::OkStatus();
}

Request ReadHead(const Head& head) {
  return {.method = Text(head.method_string()),
          .host = Text(head[Field::host]),
          .origin = Text(head[Field::origin]),
          .authorization = Text(head[Field::authorization]),
          .cookie = Text(head[Field::cookie]),
          .content_type = Text(head[Field::content_type]),
          .if_none_match = Text(head[Field::if_none_match]),
          .requested_with = Text(head["X-Requested-With"]),
          .accepts_gzip = AcceptsGzip(Text(head[Field::accept_encoding]))};
}

}  // namespace

// Bytes of a body stay in the input only until they are parsed.
RequestParser::RequestParser(uint32_t head_bytes, uint64_t body_bytes)
    : head_bytes_(head_bytes), body_bytes_(body_bytes), input_(size_t{head_bytes} + kReadBytes) {
  Next();
}

boost::asio::mutable_buffer RequestParser::Space() {
  return input_.prepare(std::min(kReadBytes, input_.max_size() - input_.size()));
}

void RequestParser::Next() {
  parser_.emplace();
  parser_->header_limit(head_bytes_);
  parser_->body_limit(body_bytes_);
  parser_->eager(true);
  head_size_ = lines_ = 0;
  has_head_ = false;
  is_continued_ = false;
}

// Beast parses the lines of a head as they arrive, and limits only each part that it waits for. It gets whole heads.
RequestParser::State RequestParser::FindHead() {
  const auto bytes = input_.cdata();
  const std::string_view input(static_cast<const char*>(bytes.data()), bytes.size());
  while (head_size_ < input.size()) {
    const char c = input[head_size_++];
    if (head_size_ > head_bytes_) return Fail(beast::http::error::header_limit);
    if (IsForbidden(c)) return Fail(beast::http::error::bad_value);
    if (c != '\n') continue;
    const std::string_view head = input.substr(0, head_size_);
    if (!head.ends_with("\r\n")) return Fail(beast::http::error::bad_line_ending);
    // The first line and the empty one are no headers.
    if (++lines_ > kMostHeaders + 2) return Fail(beast::http::error::header_limit);
    if (head.ends_with("\r\n\r\n")) return State::kDone;
  }
  return State::kNeedsMore;
}

RequestParser::State RequestParser::Parse() {
  if (!has_head_) {
    if (const State state = FindHead(); state != State::kDone) return state;
    has_head_ = true;
    Error error;
    input_.consume(parser_->put(boost::asio::buffer(input_.data(), head_size_), error));
    // Beast may find that it needs more than the whole head.
    if (error) return Fail(error);
    // Beast 1.81 finds the end of a chunk's extension only when no later bytes are there. No client needs chunks.
    if (parser_->get().count(Field::transfer_encoding) > 0) return Fail(beast::http::error::bad_transfer_encoding);
    if (parser_->is_done()) return State::kDone;
  }
  while (input_.size() > 0) {
    Error error;
    input_.consume(parser_->put(input_.data(), error));
    if (error && error != beast::http::error::need_more) return Fail(error);
    if (parser_->is_done()) return State::kDone;
    if (error) break;
  }
  if (input_.size() == input_.max_size()) return Fail(beast::http::error::buffer_overflow);
  return TakeContinue() ? State::kWantsContinue : State::kNeedsMore;
}

bool RequestParser::TakeContinue() {
  if (is_continued_ || !parser_->is_header_done() || is_http_1_0()) return false;
  is_continued_ = beast::iequals(parser_->get()[Field::expect], "100-continue");
  return is_continued_;
}

RequestParser::State RequestParser::Fail(const Error& error) {
  error_ = error;
  return State::kUnreadable;
}

absl::StatusOr<Request> RequestParser::Take() {
  auto& message = parser_->get();
  RETURN_IF_ERROR(CheckIsNotRepeated(message));
  Request request = ReadHead(message);
  const std::string target = Text(message.target());
  ASSIGN_OR_RETURN(request.target, ParseTarget(target));
  request.body = std::move(message.body());
  // Frees the headers, which the response would wait with.
  parser_.emplace();
  return request;
}

}  // namespace telemetry::http
