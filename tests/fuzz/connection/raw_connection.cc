#include "tests/fuzz/connection/raw_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tests/http2/loopback.h"

namespace telemetry::fuzz {
namespace {

constexpr int kSendPatienceMs = 1000;

}  // namespace

RawConnection::RawConnection(int port) : fd_(http2::ConnectToLoopback(port)) {}

RawConnection::~RawConnection() {
  if (fd_ >= 0) close(fd_);
}

RawConnection::RawConnection(RawConnection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool RawConnection::Send(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    pollfd writable = {.fd = fd_, .events = POLLOUT, .revents = 0};
    if (poll(&writable, 1, kSendPatienceMs) <= 0) return false;
    const ssize_t size = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) return false;
    sent += static_cast<size_t>(size);
  }
  return true;
}

void RawConnection::HalfClose() { shutdown(fd_, SHUT_WR); }

bool RawConnection::Receive(absl::Duration patience) {
  pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) <= 0) return false;
  std::array<char, 65536> buffer;
  return recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0;
}

void RawConnection::Reset() {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(std::exchange(fd_, -1));
}

}  // namespace telemetry::fuzz
