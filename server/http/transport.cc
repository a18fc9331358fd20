#include "server/http/transport.h"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <type_traits>
#include <utility>

namespace telemetry::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

// The most bytes that Finish reads.
constexpr size_t kMostDiscarded = size_t{1} << 20;

template <typename Stream>
class StreamTransport final : public Transport {
 public:
  template <typename... Arguments>
  explicit StreamTransport(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  bool is_secure() const override { return kIsSecure; }

  void Handshake(SteadyTime deadline, Done done) override {
    lowest().expires_at(deadline);
    if constexpr (kIsSecure) {
      stream_.async_handshake(asio::ssl::stream_base::server, std::move(done));
    } else {
      asio::post(stream_.get_executor(), [done = std::move(done)] { done({}); });
    }
  }

  void ReadSome(asio::mutable_buffer to, SteadyTime deadline, Read done) override {
    lowest().expires_at(deadline);
    stream_.async_read_some(to, std::move(done));
  }

  void Write(const std::vector<asio::const_buffer>& bytes, absl::Duration timeout, Done done) override {
    unsent_ = Unsent(bytes);
    WritePiece(timeout, std::move(done));
  }

  void Cancel() override { lowest().cancel(); }

  void Finish(SteadyTime deadline, Done done) override {
    lowest().expires_at(deadline);
    if constexpr (kIsSecure) {
      // Sends close_notify; the peer's answer does not matter.
      stream_.async_shutdown([this, done = std::move(done)](Error) { Discard(done); });
    } else {
      Discard(done);
    }
  }

  void Close() override { lowest().close(); }

 private:
  static constexpr bool kIsSecure = std::is_same_v<Stream, TlsStream>;
  using Unsent = beast::buffers_suffix<std::vector<asio::const_buffer>>;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void WritePiece(absl::Duration timeout, Done done) {
    lowest().expires_at(SteadyAfter(timeout));
    asio::async_write(stream_, beast::buffers_prefix(kPieceBytes, unsent_),
                      [this, timeout, done = std::move(done)](Error error, size_t size) {
                        unsent_.consume(size);
                        const bool is_over = error || beast::buffer_bytes(unsent_) == 0;
                        is_over ? done(error) : WritePiece(timeout, done);
                      });
  }

  // Sends FIN and reads without TLS until the peer disconnects.
  void Discard(const Done& done) {
    Error ignored;
    lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    DiscardSome(done);
  }
  void DiscardSome(const Done& done) {
    lowest().async_read_some(asio::buffer(discarded_), [this, done](Error error, size_t size) {
      discarded_bytes_ += size;
      error || discarded_bytes_ > kMostDiscarded ? done(error) : DiscardSome(done);
    });
  }

  Stream stream_;
  Unsent unsent_;
  std::array<char, 512> discarded_;
  size_t discarded_bytes_ = 0;
};

// Takes over a reference to the context.
asio::ssl::context Share(const access::SslContext& tls) {
  SSL_CTX_up_ref(tls.get());
  return asio::ssl::context(tls.get());
}

}  // namespace

std::unique_ptr<Transport> Transport::Make(asio::ip::tcp::socket socket, const access::SslContext& tls) {
  if (tls == nullptr) return std::make_unique<StreamTransport<PlainStream>>(std::move(socket));
  // The stream keeps a reference to the SSL_CTX of its own.
  asio::ssl::context context = Share(tls);
  return std::make_unique<StreamTransport<TlsStream>>(PlainStream(std::move(socket)), context);
}

}  // namespace telemetry::http
