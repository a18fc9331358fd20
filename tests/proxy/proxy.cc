#include "tests/proxy/proxy.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace telemetry::proxy {
namespace {

constexpr int kLookMs = 20;  // the interval at which `stopping_` is checked

bool Readable(int fd) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, kLookMs) > 0;
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

}  // namespace

int ConnectTo(const sockaddr* address, socklen_t size) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, address, size) == 0) return fd;
  close(fd);
  return -1;
}

Proxy::Proxy(int socket, std::function<std::unique_ptr<Connection>()> accepted)
    : listener_(socket), accepted_(std::move(accepted)) {
  if (listen(listener_, 64) != 0) std::abort();
  accepting_ = std::thread([this] { Accept(); });
}

Proxy::~Proxy() {
  stopping_ = true;
  accepting_.join();
  for (std::thread& connection : connections_) connection.join();
  close(listener_);
}

void Proxy::Accept() {
  while (!stopping_) {
    if (!Readable(listener_)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    connections_.emplace_back(
        [this, client, connection = std::shared_ptr<Connection>(accepted_())] { Serve(client, *connection); });
  }
}

void Proxy::Serve(int client, Connection& connection) const {
  const int server = connection.Connect();
  const auto client_said = [&](std::string_view bytes) { return connection.ClientSaid(bytes); };
  const auto server_said = [&](std::string_view bytes) { return connection.ServerSaid(bytes); };
  bool open = server >= 0;
  while (open && !stopping_) {
    std::array<pollfd, 2> ends = {
        {{.fd = client, .events = POLLIN, .revents = 0}, {.fd = server, .events = POLLIN, .revents = 0}}};
    if (poll(ends.data(), ends.size(), kLookMs) <= 0) continue;
    if (ends[0].revents != 0) open = Pass(client, server, client_said);
    if (open && ends[1].revents != 0) open = Pass(server, client, server_said);
  }
  close(client);
  if (server >= 0) close(server);
}

bool Proxy::Pass(int from, int to, const std::function<Then(std::string_view)>& then) {
  std::array<char, 65536> buffer;
  const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(size));
  const Then what = then(bytes);
  return what != Then::kCut && SendAll(to, bytes) && what == Then::kForward;
}

}  // namespace telemetry::proxy
