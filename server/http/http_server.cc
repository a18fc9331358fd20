#include "server/http/http_server.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "server/http/connection.h"
#include "server/http/io_thread.h"
#include "server/http/tls_context.h"
#include "server/http/transport.h"
#include "server/net/acceptor.h"
#include "server/net/network.h"
#include "server/net/socket.h"

namespace telemetry::http {
namespace {

namespace asio = boost::asio;

// Returns the address of the peer. A disconnected peer has none; its network is then "unknown".
sockaddr_storage ReadPeer(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

ConnectionContext MakeContext(const ServerOptions& options, std::shared_ptr<IoQueue> queue) {
  ConnectionContext context = {.limits = options.limits,
                               .queue = std::move(queue),
                               .waiting_bytes = call::SenderShares(options.limits.waiting_bytes)};
  if (options.checks_names) context.origins.emplace(options.address, options.host_names);
  return context;
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(const ServerOptions& options, std::unique_ptr<net::Acceptor> acceptor)
      : context_(MakeContext(options, io_->queue())), tls_(options.tls), acceptor_(std::move(acceptor)) {}
  ~AsioServer() override { AsioServer::Stop(); }

  int port() const override { return acceptor_->port(); }

  void Start(Handler* handler) override {
    context_.handler = handler;
    io_->Start();
    acceptor_->Start([this](int fd) {
      context_.queue->Post([this, socket = net::Socket(fd)]() mutable { Begin(std::move(socket)); });
    });
  }

  void Stop() override {
    acceptor_->Stop();
    if (io_ == nullptr) return;
    io_->Stop();
    context_.answering.clear();
    io_.reset();
  }

 private:
  void Begin(net::Socket connection) {
    access::SslContext tls;
    if (tls_.is_used()) {
      absl::StatusOr<access::SslContext> context = tls_.Get();
      if (!context.ok()) return log::Warn("cannot use the TLS files", {{"reason", context.status().ToString()}});
      tls = *std::move(context);
    }
    const sockaddr_storage peer = ReadPeer(connection.fd());
    asio::ip::tcp::socket socket(io_->context());
    boost::system::error_code error;
    socket.assign(peer.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), connection.fd(), error);
    if (error) return;
    connection.Release();
    std::make_shared<Connection>(Transport::Make(std::move(socket), tls), net::Network::Of(peer).ToString(), context_)
        ->Start();
  }

  std::unique_ptr<IoThread> io_ = std::make_unique<IoThread>();
  ConnectionContext context_;  // used by the thread of io_, as tls_ is
  TlsContext tls_;
  const std::unique_ptr<net::Acceptor> acceptor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Open(const ServerOptions& options) {
  if (!options.tls.cert.empty()) RETURN_IF_ERROR(access::CheckTlsFiles(options.tls).status());
  absl::StatusOr<std::unique_ptr<net::Acceptor>> acceptor =
      net::Acceptor::Open({.address = options.address,
                           .limits = options.limits.connections,
                           .silent_timeout = options.limits.request_timeout,
                           .on_lost = options.on_lost});
  if (!acceptor.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve ", options.purpose, " on ", options.address, ": ", acceptor.status().message()));
  }
  return std::make_unique<AsioServer>(options, *std::move(acceptor));
}

}  // namespace telemetry::http
