#include "tests/faults/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace telemetry::faults {
namespace {

constexpr uint64_t kMostBytesBeforeCut = 20000;
constexpr int kLookMs = 50;  // how often `stopping` is looked at

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool Readable(int fd, int timeout_ms) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, timeout_ms) > 0;
}

bool SendAll(int fd, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= sent;
  }
  return true;
}

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

CuttingProxy::CuttingProxy(int target_port, unsigned seed) : target_port_(target_port), random_(seed) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  const bool listens = bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 64) == 0;
  if (!listens) std::abort();
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

CuttingProxy::~CuttingProxy() {
  stopping_ = true;
  accepting_.join();
  for (std::thread& connection : connections_) connection.join();
  close(listener_);
}

std::string CuttingProxy::address() const { return "127.0.0.1:" + std::to_string(port_); }

bool CuttingProxy::AwaitCuts(int count, absl::Duration timeout) {
  absl::MutexLock lock(&mu_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return cuts_ >= count; };
  return mu_.AwaitWithTimeout(absl::Condition(&enough), timeout);
}

void CuttingProxy::CountCut() {
  absl::MutexLock lock(&mu_);
  ++cuts_;
}

void CuttingProxy::Accept() {
  while (!stopping_) {
    if (!Readable(listener_, kLookMs)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const uint64_t cut_after = std::uniform_int_distribution<uint64_t>(1, kMostBytesBeforeCut)(random_);
    connections_.emplace_back([this, client, cut_after] { Serve(client, cut_after); });
  }
}

void CuttingProxy::Serve(int client, uint64_t cut_after) {
  const int server = ConnectTo(target_port_);
  uint64_t forwarded = 0;
  std::array<char, 65536> buffer;
  bool open = server >= 0;
  while (open && !stopping_) {
    std::array<pollfd, 2> ends = {
        {{.fd = client, .events = POLLIN, .revents = 0}, {.fd = server, .events = POLLIN, .revents = 0}}};
    if (poll(ends.data(), ends.size(), kLookMs) <= 0) continue;
    if (ends[0].revents != 0) {
      const ssize_t size = recv(client, buffer.data(), buffer.size(), 0);
      open = size > 0 && SendAll(server, buffer.data(), size);
      if (open) forwarded += static_cast<uint64_t>(size);
    }
    if (open && ends[1].revents != 0) {
      const ssize_t size = recv(server, buffer.data(), buffer.size(), 0);
      const bool cut = size > 0 && !behaving_ && forwarded >= cut_after;
      if (cut) CountCut();
      open = !cut && size > 0 && SendAll(client, buffer.data(), size);
    }
  }
  close(client);
  if (server >= 0) close(server);
}

}  // namespace telemetry::faults
