#include "server/http/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/refusal.h"

namespace telemetry::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using Error = boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;
using Fields = Parser::value_type;

std::string Value(const Fields& fields, beast::http::field name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

bool AcceptsGzip(const Fields& fields) {
  return Value(fields, beast::http::field::accept_encoding).find("gzip") != std::string::npos;
}

// Serves one connection. Runs on the io_context's thread; keeps itself alive while an operation is pending.
template <typename Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <typename... Arguments>
  Connection(std::string network, ConnectionContext& context, Arguments&&... arguments)
      : network_(std::move(network)), context_(context), stream_(std::forward<Arguments>(arguments)...) {}
  ~Connection() { EndStream(); }

  void Start() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Expire(context_.limits.request_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = Self()](Error error) {
        if (!error) self->ReadRequest(self->context_.limits.request_timeout);
      });
    } else {
      ReadRequest(context_.limits.request_timeout);
    }
  }

 private:
  auto Self() { return this->shared_from_this(); }
  void Expire(absl::Duration timeout) {
    beast::get_lowest_layer(stream_).expires_after(absl::ToChronoNanoseconds(timeout));
  }

  // Waits up to `wait` for the first bytes, and then for the request's end.
  void ReadRequest(absl::Duration wait) {
    parser_.emplace();
    parser_->header_limit(context_.limits.head_bytes);
    parser_->body_limit(context_.limits.body_bytes);
    if (input_.size() > 0) return ReadRest();
    Expire(wait);
    stream_.async_read_some(input_.prepare(2048), [self = Self()](Error error, size_t size) {
      if (error) return;
      self->input_.commit(size);
      self->ReadRest();
    });
  }

  void ReadRest() {
    Expire(context_.limits.request_timeout);
    beast::http::async_read(stream_, input_, *parser_, [self = Self()](Error error, size_t) { self->OnRequest(error); });
  }

  void OnRequest(Error error) {
    keep_alive_ = !error && parser_->get().keep_alive();
    is_head_ = !error && parser_->get().method() == beast::http::verb::head;
    if (error) {
      const std::optional<Response> refusal = RefuseUnreadable(error);
      if (refusal.has_value()) Send(*refusal);
      return;
    }
    Request request = TakeRequest();
    absl::StatusOr<Target> target = Check(request);
    if (!target.ok()) return Send(ErrorResponse(target.status()));
    request.target = *std::move(target);
    Pass(std::move(request));
  }

  Request TakeRequest() {
    Fields& fields = parser_->get();
    Request request;
    const auto method = fields.method_string();
    request.method = std::string(method.data(), method.size());
    request.authorization = Value(fields, beast::http::field::authorization);
    request.cookie = Value(fields, beast::http::field::cookie);
    request.content_type = Value(fields, beast::http::field::content_type);
    request.if_none_match = Value(fields, beast::http::field::if_none_match);
    const auto requested_with = fields["X-Requested-With"];
    request.requested_with = std::string(requested_with.data(), requested_with.size());
    request.accepts_gzip = AcceptsGzip(fields);
    request.body = std::move(fields.body());
    request.network = network_;
    request.is_secure = kIsSecure;
    return request;
  }

  // Checks the names under which the request addresses the server, and parses its target.
  absl::StatusOr<Target> Check(const Request& request) {
    const Fields& fields = parser_->get();
    if (fields.count(beast::http::field::host) != 1) return absl::InvalidArgumentError("the request needs one Host");
    const std::string host = Value(fields, beast::http::field::host);
    if (absl::Status status = context_.origins.CheckHost(host); !status.ok()) return WrongHost(status);
    if (absl::Status status =
            OriginCheck::CheckOrigin(Value(fields, beast::http::field::origin), host, request.is_secure);
        !status.ok()) {
      return status;
    }
    const auto target = fields.target();
    return ParseTarget({target.data(), target.size()});
  }

  void Pass(Request request) {
    if (context_.waiting_bytes > context_.limits.waiting_bytes) return Send(Overloaded());
    // The client is not read while its request is being answered.
    beast::get_lowest_layer(stream_).expires_never();
    const auto executor = stream_.get_executor();
    context_.handler->Handle(std::move(request), [self = Self(), executor](Response response) {
      asio::post(executor, [self, response = std::move(response)]() mutable { self->Send(std::move(response)); });
    });
  }

  void Send(Response response) {
    response_ = std::move(response);
    if (response_.stream != nullptr) keep_alive_ = false;
    head_ = FormatHead(response_, keep_alive_, kIsSecure);
    const std::string_view body = is_head_ || response_.stream != nullptr ? "" : response_.content();
    waiting_ = response_.body.size();
    context_.waiting_bytes += waiting_;
    Expire(context_.limits.send_timeout + absl::Seconds(body.size() / context_.limits.slowest_bytes_per_second));
    const std::array<asio::const_buffer, 2> parts = {asio::buffer(head_), asio::buffer(body.data(), body.size())};
    asio::async_write(stream_, parts, [self = Self()](Error error, size_t) { self->OnSent(error); });
  }

  void OnSent(Error error) {
    context_.waiting_bytes -= std::exchange(waiting_, 0);
    if (error) return EndStream();
    if (response_.stream != nullptr && !is_head_) return SendStream();
    response_ = {};
    if (!keep_alive_) return Close();
    ReadRequest(context_.limits.idle_timeout);
  }

  // Sends the pieces of a stream as chunks, and waits for the next one.
  void SendStream() {
    piece_.clear();
    const auto executor = stream_.get_executor();
    const auto wake = [weak = std::weak_ptr(Self()), executor] {
      asio::post(executor, [weak] {
        if (const auto self = weak.lock()) self->SendStream();
      });
    };
    const bool goes_on = response_.stream->Take(&piece_, wake);
    if (piece_.empty() && goes_on) return WaitForPiece();
    is_waiting_ = false;
    head_ = piece_.empty() ? "0\r\n\r\n" : absl::StrCat(absl::Hex(piece_.size()), "\r\n", piece_, "\r\n");
    const bool is_last = piece_.empty();
    Expire(context_.limits.send_timeout);
    asio::async_write(stream_, asio::buffer(head_), [self = Self(), is_last](Error error, size_t) {
      if (error) return self->EndStream();
      is_last ? self->Close() : self->SendStream();
    });
  }

  // Reads from the client while there is nothing to send, to detect that it has disconnected. The pending read keeps
  // the connection alive.
  void WaitForPiece() {
    beast::get_lowest_layer(stream_).expires_never();
    if (std::exchange(is_waiting_, true) || std::exchange(is_watched_, true)) return;
    stream_.async_read_some(asio::buffer(ignored_), [self = Self()](Error, size_t) {
      // A client has nothing to say during a stream.
      self->EndStream();
      self->Close();
    });
  }

  void EndStream() {
    if (response_.stream != nullptr) response_.stream->Close();
  }

  void Close() {
    Error ignored;
    beast::get_lowest_layer(stream_).socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    beast::get_lowest_layer(stream_).close();
  }

  static constexpr bool kIsSecure = std::is_same_v<Stream, TlsStream>;

  const std::string network_;
  ConnectionContext& context_;
  Stream stream_;
  beast::flat_buffer input_{size_t{64} << 10};
  std::optional<Parser> parser_;
  bool keep_alive_ = false;
  bool is_head_ = false;
  Response response_;
  std::string head_;
  std::string piece_;
  size_t waiting_ = 0;
  bool is_waiting_ = false;  // for a piece of the stream
  bool is_watched_ = false;  // a read is pending while the stream is sent
  std::array<char, 64> ignored_;
};

// Holds a reference to the SSL context beside the stream that uses it.
class TlsHolder {
 protected:
  explicit TlsHolder(const access::SslContext& tls) : tls_context_(tls.get()) { SSL_CTX_up_ref(tls.get()); }
  asio::ssl::context tls_context_;  // frees its reference
};

class TlsConnection final : private TlsHolder, public Connection<TlsStream> {
 public:
  TlsConnection(asio::ip::tcp::socket socket, std::string network, const access::SslContext& tls,
                ConnectionContext& context)
      : TlsHolder(tls),
        Connection<TlsStream>(std::move(network), context, beast::tcp_stream(std::move(socket)), tls_context_) {}
};

}  // namespace

void ServeConnection(asio::ip::tcp::socket socket, std::string network, const access::SslContext& tls,
                     ConnectionContext& context) {
  if (tls != nullptr) {
    std::make_shared<TlsConnection>(std::move(socket), std::move(network), tls, context)->Start();
  } else {
    std::make_shared<Connection<PlainStream>>(std::move(network), context, std::move(socket))->Start();
  }
}

}  // namespace telemetry::http
