#include "tests/http2/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace telemetry::http2 {

namespace {

sockaddr_in Loopback(uint32_t host, int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~uint32_t{255}) + host);
  return address;
}

}  // namespace

int ConnectToLoopback(int port, uint32_t host) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in from = Loopback(host, 0);
  const sockaddr_in to = Loopback(1, port);
  const int on = 1;
  // The kernel chooses the source port in connect(); a choice in bind() would find fewer free ports.
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  const bool is_bound = fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0;
  // A server that is full resets a connection immediately, and one that ignores a storm of connections lets them time
  // out. The caller then finds the connection closed.
  const bool is_connected = is_bound && connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  if (!is_connected && errno != ECONNRESET && errno != ETIMEDOUT) {
    std::perror("connect to the collector");
    std::abort();
  }
  return fd;
}

}  // namespace telemetry::http2
