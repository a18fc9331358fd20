#include "tests/server/http/http_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/http2/loopback.h"

namespace telemetry::http {
namespace {

constexpr int kPatienceMs = 60'000;

size_t ContentLength(const std::string& head) {
  for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
    size_t length = 0;
    if (absl::StartsWith(line, "Content-Length: ") && absl::SimpleAtoi(line.substr(16), &length)) return length;
  }
  return 0;
}

}  // namespace

HttpClient::HttpClient(int port, uint32_t host) : socket_(http2::ConnectToLoopback(port, host)) {}

void HttpClient::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
}

void HttpClient::EndSending() const { shutdown(fd(), SHUT_WR); }

void HttpClient::AwaitBytes() const {
  pollfd polled = {.fd = fd(), .events = POLLIN};
  EXPECT_EQ(poll(&polled, 1, kPatienceMs), 1) << "the server sends nothing";
}

bool HttpClient::Receive() {
  AwaitBytes();
  std::array<char, 65536> bytes;
  const ssize_t size = recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) unread_.append(bytes.data(), static_cast<size_t>(size));
  return size > 0;
}

std::string HttpClient::Take(size_t size) {
  std::string taken = unread_.substr(0, size);
  unread_.erase(0, size);
  return taken;
}

std::string HttpClient::ReadUntil(std::string_view end) {
  size_t found = unread_.find(end);
  while (found == std::string::npos && Receive()) found = unread_.find(end);
  return Take(found == std::string::npos ? unread_.size() : found + end.size());
}

std::string HttpClient::ReadResponse(bool has_body) {
  std::string response = ReadUntil("\r\n\r\n");
  const size_t length = has_body ? ContentLength(response) : 0;
  while (unread_.size() < length && Receive()) continue;
  return response + Take(length);
}

std::string HttpClient::ReadAll() {
  while (Receive()) continue;
  return Take(unread_.size());
}

}  // namespace telemetry::http
