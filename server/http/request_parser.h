#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "server/http/message.h"

namespace telemetry::http {

// The most headers of a request. A parsed header takes more memory than its bytes.
inline constexpr size_t kMostHeaders = 100;

// Parses the bytes of a connection as requests, one after the other, within limits. Performs no I/O.
class RequestParser {
 public:
  // The longest head, with the target, and the longest body.
  RequestParser(uint32_t head_bytes, uint64_t body_bytes);

  // Returns the space for the next bytes, which is never empty after kNeedsMore.
  boost::asio::mutable_buffer Space();
  // Adds bytes that were written to the space.
  void Commit(size_t size) { input_.commit(size); }

  enum class State {
    kNeedsMore,
    kWantsContinue,  // the client waits for "100 Continue" before it sends the body; returned once for a request
    kDone,
    kUnreadable,  // see error()
  };
  State Parse();
  const boost::system::error_code& error() const { return error_; }

  // The parsed request; valid after kDone, until Take.
  bool keep_alive() const { return parser_->get().keep_alive(); }
  bool is_head() const { return parser_->get().method() == boost::beast::http::verb::head; }
  bool is_http_1_0() const { return parser_->get().version() == 10; }
  // Returns the request without its client. INVALID_ARGUMENT: a header that may occur once is repeated; the errors of
  // ParseTarget.
  absl::StatusOr<Request> Take();

  // Begins the next request. Bytes that follow the last one are kept.
  void Next();
  // Returns true if bytes of the next request have arrived.
  bool has_bytes() const { return input_.size() > 0; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  // Looks for the end of the head in the new bytes. kDone: found.
  State FindHead();
  // Returns true once if the client waits for "100 Continue".
  bool TakeContinue();
  State Fail(const boost::system::error_code& error);

  const uint32_t head_bytes_;
  const uint64_t body_bytes_;
  boost::beast::flat_buffer input_;
  std::optional<Parser> parser_;
  size_t head_size_ = 0;  // bytes of the head that FindHead has seen
  size_t lines_ = 0;      // of these
  bool has_head_ = false;
  bool is_continued_ = false;
  boost::system::error_code error_;
};

}  // namespace telemetry::http
