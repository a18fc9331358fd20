#include "tests/http2/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace telemetry::http2 {

int ConnectToLoopback(int port, int host) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from = {};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + static_cast<uint32_t>(host) - 1);
  if (host != 1 && bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof from) != 0) {
    std::perror("bind to an address of this machine");
    std::abort();
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect to the collector");
    std::abort();
  }
  return fd;
}

}  // namespace telemetry::http2
