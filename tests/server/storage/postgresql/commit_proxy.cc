#include "tests/server/storage/postgresql/commit_proxy.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace telemetry::storage {
namespace {

constexpr char kSocketName[] = ".s.PGSQL.5432";
constexpr std::string_view kHost = "host=";
// So soon after its end the thread is joined.
constexpr int kPollMs = 20;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int Connect(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(path);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0) << path;
  return fd;
}

std::string_view Receive(int from, std::array<char, 65536>& buffer) {
  const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
  return {buffer.data(), static_cast<size_t>(size < 0 ? 0 : size)};
}

bool Pass(std::string_view bytes, int to) {
  return !bytes.empty() && send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

// A simple query, which is how a transaction is ended.
bool IsCommit(std::string_view bytes) {
  return bytes.starts_with('Q') && bytes.ends_with(std::string_view("COMMIT", 7));
}

}  // namespace

CommitProxy::CommitProxy(const std::string& url) : url_(url) {
  const size_t host = url.find(kHost) + kHost.size();
  const size_t end = std::min(url.find('&', host), url.size());
  server_socket_ = url.substr(host, end - host) + "/" + kSocketName;
  const std::string own_socket = folder_.File(kSocketName);
  url_.replace(host, end - host, folder_.File(""));
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(own_socket);
  EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(listener_, 8), 0);
  thread_ = std::thread([this] { Serve(); });
}

CommitProxy::~CommitProxy() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

void CommitProxy::Serve() {
  while (!stop_) {
    pollfd waiting = {.fd = listener_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const int client = accept(listener_, nullptr, nullptr);
    const int server = Connect(server_socket_);
    Forward(client, server);
    close(client);
    close(server);
  }
}

void CommitProxy::Forward(int client, int server) {
  std::array<char, 65536> buffer;
  bool drop_answer = false;
  while (!stop_) {
    std::array<pollfd, 2> ends = {
        {{.fd = client, .events = POLLIN, .revents = 0}, {.fd = server, .events = POLLIN, .revents = 0}}};
    if (poll(ends.data(), ends.size(), kPollMs) < 0) return;
    if (ends[0].revents != 0) {
      const std::string_view said = Receive(client, buffer);
      if (IsCommit(said) && cut_ != Cut::kNone) {
        ++cuts_;
        if (cut_.exchange(Cut::kNone) == Cut::kBefore) return;
        drop_answer = true;
      }
      if (!Pass(said, server)) return;
    }
    if (ends[1].revents != 0) {
      const std::string_view said = Receive(server, buffer);
      if (drop_answer || !Pass(said, client)) return;
    }
  }
}

}  // namespace telemetry::storage
