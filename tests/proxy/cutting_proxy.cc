#include "tests/proxy/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdlib>
#include <utility>

namespace telemetry::proxy {
namespace {

constexpr uint64_t kMostBytesBeforeCut = 20000;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

class CuttingProxy::Connection : public Proxy::Connection {
 public:
  Connection(CuttingProxy& proxy, int port, uint64_t cut_after) : proxy_(proxy), port_(port), cut_after_(cut_after) {}

  int Connect() override {
    const sockaddr_in address = Loopback(port_);
    return ConnectTo(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }

  Proxy::Then ClientSaid(std::string_view bytes) override {
    forwarded_ += bytes.size();
    return Proxy::Then::kForward;
  }

  Proxy::Then ServerSaid(std::string_view /*bytes*/) override {
    if (proxy_.behaving_ || forwarded_ < cut_after_) return Proxy::Then::kForward;
    absl::MutexLock lock(&proxy_.mutex_);
    ++proxy_.cuts_;
    return Proxy::Then::kCut;
  }

 private:
  CuttingProxy& proxy_;
  const int port_;
  const uint64_t cut_after_;
  uint64_t forwarded_ = 0;
};

CuttingProxy::CuttingProxy(std::vector<int> target_ports, unsigned seed)
    : target_ports_(std::move(target_ports)), random_(seed) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  proxy_ = std::make_unique<Proxy>(listener, [this] { return Accepted(); });
}

std::string CuttingProxy::address() const { return "127.0.0.1:" + std::to_string(port_); }

bool CuttingProxy::AwaitCuts(int count, absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return cuts_ >= count; };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), timeout);
}

std::unique_ptr<Proxy::Connection> CuttingProxy::Accepted() {
  const size_t target = std::uniform_int_distribution<size_t>(0, target_ports_.size() - 1)(random_);
  const uint64_t cut_after = std::uniform_int_distribution<uint64_t>(1, kMostBytesBeforeCut)(random_);
  return std::make_unique<Connection>(*this, target_ports_[target], cut_after);
}

}  // namespace telemetry::proxy
