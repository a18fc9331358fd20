#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "server/net/socket.h"

namespace telemetry::http {

// A client that sends and receives the bytes of HTTP/1.1 over a socket. The reads wait for up to a minute.
class HttpClient {
 public:
  // `host`: the last number of the client's address 127.0.0.x.
  explicit HttpClient(int port, uint32_t host = 1);
  explicit HttpClient(net::Socket connected) : socket_(std::move(connected)) {}

  int fd() const { return socket_.fd(); }
  void Send(std::string_view bytes) const;
  // Says that nothing follows, and can still read.
  void EndSending() const;
  // Waits for the first unread byte, or for the connection's end.
  void AwaitBytes() const;

  // Returns the next response. `has_body` false: to HEAD.
  std::string ReadResponse(bool has_body = true);
  // Returns the bytes up to `end` including it, or all if the connection ends before.
  std::string ReadUntil(std::string_view end);
  // Returns the bytes until the server ends the connection.
  std::string ReadAll();

 private:
  // Adds bytes to unread_. Returns false at the end of the connection.
  bool Receive();
  std::string Take(size_t size);

  net::Socket socket_;
  std::string unread_;
};

}  // namespace telemetry::http
