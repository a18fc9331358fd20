#include "tests/faults/raw_http2.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/time/clock.h"

namespace telemetry::faults {
namespace {

constexpr char kMagic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kResetStream = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr uint16_t kInitialWindow = 4;
constexpr size_t kFrameHead = 9;
constexpr size_t kLargestFrame = 16384;

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift));
  return text;
}

uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = Number(payload.size(), 3) + Number(type, 1) + Number(flags, 1) + Number(stream, 4);
  return frame.append(payload);
}

// HPACK: a literal that is not indexed, without Huffman's code.
std::string Header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + Number(name.size(), 1) + name + Number(value.size(), 1) + value;
}

}  // namespace

RawConnection::RawConnection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror("connect to the collector");
    std::abort();
  }
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      closed_(other.closed_),
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
  return kMagic + Frame(kSettings, 0, 0, Number(kInitialWindow, 2) + Number(window, 4));
}

void RawConnection::SendPreface(uint32_t window) {
  SendRaw(Preface(window));
  has_begun_ = true;
}

void RawConnection::StartCall(uint32_t stream, const std::string& method, const Headers& more) {
  std::string block = Header(":method", "POST") + Header(":scheme", "http") + Header(":path", method) +
                      Header(":authority", "localhost") + Header("te", "trailers") +
                      Header("content-type", "application/grpc");
  for (const auto& [name, value] : more) block += Header(name, value);
  SendRaw(Frame(kHeaders, kEndHeaders, stream, block));
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
    if (!SendRaw(Frame(kData, 0, stream, bytes.substr(0, size)))) return false;
    connection_window_ -= static_cast<int64_t>(size);
    windows_[stream] -= static_cast<int64_t>(size);
    bytes.remove_prefix(size);
  }
  return true;
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
  const absl::Time deadline = absl::Now() + patience;
  bool more = true;
  while (!closed_ && !happened && (more || absl::Now() < deadline)) {
    more = Receive(std::max(deadline - absl::Now(), absl::ZeroDuration()));
  }
  return closed_ || happened;
}

bool RawConnection::AwaitEnd(uint32_t stream, absl::Duration patience) { return AwaitThat(ended_[stream], patience); }

bool RawConnection::AwaitAnswer(uint32_t stream, absl::Duration patience) {
  return AwaitThat(answered_[stream], patience);
}

std::string RawConnection::Message(std::string_view content, bool compressed) {
  return Number(compressed ? 1 : 0, 1) + Number(content.size(), 4) + std::string(content);
}

std::string RawConnection::MessageHead(uint32_t announced) { return Number(0, 1) + Number(announced, 4); }

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
  if (type == kHeaders) answered_[stream] = true;
  if (type == kResetStream || ((type == kHeaders || type == kData) && (flags & kEndStream) != 0)) ended_[stream] = true;
  if (type == kWindowUpdate) {
    (stream == 0 ? connection_window_ : windows_[stream]) += ReadNumber(payload);
  }
  for (size_t at = 0; type == kSettings && at + 6 <= payload.size(); at += 6) {
    if (ReadNumber(payload.substr(at, 2)) != kInitialWindow) continue;
    const int64_t window = ReadNumber(payload.substr(at + 2, 4));
    for (auto& [id, left] : windows_) left += window - first_window_;
    first_window_ = window;
  }
  // Only then does what they say hold.
  if (type == kSettings && (flags & kAck) == 0 && has_begun_) SendRaw(Frame(kSettings, kAck, 0, ""));
}

}  // namespace telemetry::faults
