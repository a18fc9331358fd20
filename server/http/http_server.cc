#include "server/http/http_server.h"

#include <sys/socket.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "server/http/connection.h"
#include "server/http/tls_context.h"
#include "server/net/acceptor.h"
#include "server/net/network.h"

namespace telemetry::http {
namespace {

namespace asio = boost::asio;

// OpenSSL writes to sockets without MSG_NOSIGNAL; a disconnected peer must not end the process.
void BlockSigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::string NetworkOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  // A disconnected peer has no address; its network is then "unknown".
  getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return net::Network::Of(address).ToString();
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(ServerOptions options, std::unique_ptr<net::Acceptor> acceptor, TlsContext tls)
      : context_{.limits = options.limits, .origins = OriginCheck(options.address, options.host_names)},
        tls_(std::move(tls)),
        acceptor_(std::move(acceptor)) {}
  ~AsioServer() override { Stop(); }

  int port() const override { return acceptor_->port(); }

  void Start(Handler* handler) override {
    context_.handler = handler;
    thread_ = std::thread([this] {
      BlockSigpipe();
      io_.run();
    });
    acceptor_->Start([this](int fd) { asio::post(io_, [this, fd] { Begin(fd); }); });
  }

  void Stop() override {
    acceptor_->Stop();
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Begin(int fd) {
    net::Socket owned(fd);
    access::SslContext tls;
    if (tls_.is_used()) {
      absl::StatusOr<access::SslContext> context = tls_.Get();
      if (!context.ok()) return log::Warn("cannot use the TLS files", {{"reason", context.status().ToString()}});
      tls = *std::move(context);
    }
    asio::ip::tcp::socket socket(io_);
    boost::system::error_code error;
    socket.assign(asio::ip::tcp::v4(), fd, error);  // the protocol matters to bind and connect only
    if (error) return;
    owned.Release();
    ServeConnection(std::move(socket), NetworkOf(fd), tls, context_);
  }

  ConnectionContext context_;
  TlsContext tls_;
  asio::io_context io_{1};
  const asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  const std::unique_ptr<net::Acceptor> acceptor_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Open(ServerOptions options) {
  TlsContext tls(options.tls);
  if (tls.is_used()) RETURN_IF_ERROR(tls.Get().status());
  absl::StatusOr<std::unique_ptr<net::Acceptor>> acceptor =
      net::Acceptor::Open({.address = options.address,
                           .limits = options.limits.connections,
                           .silent_timeout = options.limits.request_timeout,
                           .on_lost = options.on_lost});
  if (!acceptor.ok()) {
    return absl::UnavailableError(absl::StrCat("cannot serve on ", options.address, ": ", acceptor.status().message()));
  }
  return std::make_unique<AsioServer>(std::move(options), *std::move(acceptor), std::move(tls));
}

}  // namespace telemetry::http
