#include "tests/faults/attacks/flood.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace telemetry::faults {

Flood::~Flood() {
  for (const int fd : fds_) close(fd);
}

void Flood::Connect(int count) {
  for (int i = 0; i < count; ++i) ConnectOnce();
}

void Flood::ConnectOnce() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    std::perror("open a socket of a flood");
    std::abort();
  }
  fds_.push_back(fd);
  sockaddr_in from = {.sin_family = AF_INET};
  from.sin_addr.s_addr = htonl(0x7f000000 + host_);
  sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port_))};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  bind(fd, reinterpret_cast<sockaddr*>(&from), sizeof(from));
  // The flood does not wait for a collector that does not respond.
  fcntl(fd, F_SETFL, O_NONBLOCK);
  connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  send(fd, words_.data(), words_.size(), MSG_NOSIGNAL);
}

}  // namespace telemetry::faults
