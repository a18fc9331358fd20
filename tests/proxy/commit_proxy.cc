#include "tests/proxy/commit_proxy.h"

#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace telemetry::proxy {
namespace {

constexpr char kSocketName[] = ".s.PGSQL.5432";
constexpr std::string_view kHost = "host=";

sockaddr_un SocketAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) std::abort();
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Returns true for a simple query with COMMIT, which is how a transaction is committed.
bool IsCommit(std::string_view bytes) {
  return bytes.starts_with('Q') && bytes.ends_with(std::string_view("COMMIT", 7));
}

}  // namespace

class CommitProxy::Connection : public Proxy::Connection {
 public:
  explicit Connection(CommitProxy& proxy) : proxy_(proxy) {}

  int Connect() override {
    const sockaddr_un address = SocketAddress(proxy_.server_socket_);
    return ConnectTo(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }

  Proxy::Then ClientSaid(std::string_view bytes) override {
    switch (IsCommit(bytes) ? proxy_.Take() : Cut::kNone) {
      case Cut::kNone:
        break;
      case Cut::kBefore:
        return Proxy::Then::kCut;
      case Cut::kMeanwhile:
        return Proxy::Then::kForwardAndCut;
      case Cut::kAfter:
        drop_answer_ = true;
        break;
    }
    return Proxy::Then::kForward;
  }

  Proxy::Then ServerSaid(std::string_view /*bytes*/) override {
    return drop_answer_ ? Proxy::Then::kCut : Proxy::Then::kForward;
  }

 private:
  CommitProxy& proxy_;
  bool drop_answer_ = false;
};

CommitProxy::CommitProxy(const std::string& url) : url_(url) {
  const size_t host = url.find(kHost) + kHost.size();
  const size_t end = std::min(url.find('&', host), url.size());
  server_socket_ = url.substr(host, end - host) + "/" + kSocketName;
  url_.replace(host, end - host, folder_.File(""));
  const sockaddr_un address = SocketAddress(folder_.File(kSocketName));
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) std::abort();
  proxy_ = std::make_unique<Proxy>(listener, [this] { return std::make_unique<Connection>(*this); });
}

void CommitProxy::CutNext(Cut cut) {
  absl::MutexLock lock(&mutex_);
  next_ = cut;
}

int CommitProxy::cuts() const {
  absl::MutexLock lock(&mutex_);
  return cuts_;
}

bool CommitProxy::AwaitCuts(int count, absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return cuts_ >= count; };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), timeout);
}

CommitProxy::Cut CommitProxy::Take() {
  absl::MutexLock lock(&mutex_);
  if (next_ != Cut::kNone) ++cuts_;
  return std::exchange(next_, Cut::kNone);
}

}  // namespace telemetry::proxy
