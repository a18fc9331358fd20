#include "tests/faults/attacks/raw_http2.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "proto/base/steady.h"
#include "tests/http2/loopback.h"

namespace telemetry::faults {
namespace {

using http2::BigEndian16;
using http2::BigEndian32;
using http2::FrameBytes;

constexpr uint16_t kInitialWindow = 4;
constexpr uint32_t kCancel = 8;  // the error code CANCEL
constexpr size_t kFrameHead = 9;
constexpr size_t kLargestFrame = 16384;

// Returns the frame that starts a call.
std::string CallFrame(uint32_t stream, const std::string& method, const http2::Headers& more = {}) {
  http2::Headers headers = http2::CallHeaders(method);
  headers.insert(headers.end(), more.begin(), more.end());
  return FrameBytes(
      {.type = http2::kHeaders, .flags = http2::kEndHeaders, .stream = stream, .payload = http2::Hpack(headers)});
}

uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

}  // namespace

RawConnection::RawConnection(int port, uint32_t host) : fd_(http2::ConnectToLoopback(port, host)) {
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const timeval patience = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      closed_(other.closed_),
      acknowledges_(other.acknowledges_),
      has_begun_(other.has_begun_),
      received_(std::move(other.received_)),
      connection_window_(other.connection_window_),
      first_window_(other.first_window_),
      windows_(std::move(other.windows_)),
      answered_(std::move(other.answered_)),
      ended_(std::move(other.ended_)) {}

RawConnection::~RawConnection() {
  if (fd_ >= 0) close(fd_);
}

std::string RawConnection::Preface(uint32_t window) {
  const std::string settings = BigEndian16(kInitialWindow) + BigEndian32(window);
  return std::string(http2::kPreface) + FrameBytes({.type = http2::kSettings, .payload = settings});
}

std::string RawConnection::CallBurst(const std::string& method, uint32_t calls) {
  std::string burst = Preface();
  for (uint32_t call = 0; call < calls; ++call) burst += CallFrame(2 * call + 1, method);
  return burst;
}

std::string RawConnection::ResetCalls(const std::string& method, uint32_t before, uint32_t calls) {
  std::string frames;
  for (uint32_t call = before; call < before + calls; ++call) {
    const uint32_t stream = 2 * call + 1;
    frames += CallFrame(stream, method);
    frames += FrameBytes({.type = http2::kRstStream, .stream = stream, .payload = BigEndian32(kCancel)});
  }
  return frames;
}

void RawConnection::SendPreface(uint32_t window) {
  SendRaw(Preface(window));
  has_begun_ = true;
}

void RawConnection::StartCall(uint32_t stream, const std::string& method, const http2::Headers& more) {
  SendRaw(CallFrame(stream, method, more));
  windows_[stream] = first_window_;
}

bool RawConnection::SendData(uint32_t stream, std::string_view bytes, absl::Duration patience) {
  while (!bytes.empty()) {
    while (Receive(absl::ZeroDuration())) {
    }
    if (closed_ || ended_[stream]) return false;
    const int64_t room = std::min(connection_window_, windows_[stream]);
    if (room <= 0) {
      if (!Receive(patience)) return false;
      continue;
    }
    const size_t size = std::min({bytes.size(), static_cast<size_t>(room), kLargestFrame});
    if (!SendRaw(FrameBytes({.stream = stream, .payload = std::string(bytes.substr(0, size))}))) return false;
    connection_window_ -= static_cast<int64_t>(size);
    windows_[stream] -= static_cast<int64_t>(size);
    bytes.remove_prefix(size);
  }
  return true;
}

bool RawConnection::AllowMore(uint32_t stream, uint32_t bytes) {
  const std::string payload = BigEndian32(bytes);
  return SendRaw(FrameBytes({.type = http2::kWindowUpdate, .stream = stream, .payload = payload}) +
                 FrameBytes({.type = http2::kWindowUpdate, .payload = payload}));
}

bool RawConnection::SendRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      closed_ = true;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

bool RawConnection::AwaitThat(const bool& happened, absl::Duration patience) {
  const SteadyTime deadline = SteadyAfter(patience);
  bool more = true;
  while (!closed_ && !happened && (more || SteadyNow() < deadline)) {
    more = Receive(std::max(TimeUntil(deadline), absl::ZeroDuration()));
  }
  return closed_ || happened;
}

bool RawConnection::AwaitEnd(uint32_t stream, absl::Duration patience) { return AwaitThat(ended_[stream], patience); }

bool RawConnection::AwaitAnswer(uint32_t stream, absl::Duration patience) {
  return AwaitThat(answered_[stream], patience);
}

bool RawConnection::Receive(absl::Duration patience) {
  pollfd event = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (closed_ || poll(&event, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) <= 0) return false;
  std::array<char, 65536> buffer;
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (size <= 0) {
    closed_ = true;
    return false;
  }
  received_.append(buffer.data(), static_cast<size_t>(size));
  HandleFrames();
  return true;
}

void RawConnection::HandleFrames() {
  std::string_view rest = received_;
  while (rest.size() >= kFrameHead) {
    const size_t size = ReadNumber(rest.substr(0, 3));
    if (rest.size() < kFrameHead + size) break;
    HandleFrame(static_cast<uint8_t>(rest[3]), static_cast<uint8_t>(rest[4]), ReadNumber(rest.substr(5, 4)),
                rest.substr(kFrameHead, size));
    rest.remove_prefix(kFrameHead + size);
  }
  received_.erase(0, received_.size() - rest.size());
}

void RawConnection::HandleFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  if (type == http2::kHeaders) answered_[stream] = true;
  if (type == http2::kRstStream ||
      ((type == http2::kHeaders || type == http2::kData) && (flags & http2::kEndStream) != 0))
    ended_[stream] = true;
  if (type == http2::kWindowUpdate) {
    (stream == 0 ? connection_window_ : windows_[stream]) += ReadNumber(payload);
  }
  for (size_t at = 0; type == http2::kSettings && at + 6 <= payload.size(); at += 6) {
    if (ReadNumber(payload.substr(at, 2)) != kInitialWindow) continue;
    const int64_t window = ReadNumber(payload.substr(at + 2, 4));
    for (auto& [id, left] : windows_) left += window - first_window_;
    first_window_ = window;
  }
  // The settings take effect when they are acknowledged.
  if (type == http2::kSettings && (flags & http2::kAck) == 0 && has_begun_ && acknowledges_)
    SendRaw(FrameBytes({.type = http2::kSettings, .flags = http2::kAck}));
}

}  // namespace telemetry::faults
