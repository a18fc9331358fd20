#include "server/net/socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace telemetry::net {

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

void Socket::Close() {
  if (fd_ >= 0) close(Release());
}

std::optional<FileId> ReadFileId(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return std::nullopt;
  return FileId{.device = file.st_dev, .inode = file.st_ino};
}

std::optional<uint64_t> CountReceivedBytes(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received)) return std::nullopt;
  return info.tcpi_bytes_received;
}

std::optional<uint64_t> CountUnreadBytes(int fd) {
  int unread = 0;
  if (ioctl(fd, FIONREAD, &unread) != 0) return std::nullopt;
  return static_cast<uint64_t>(unread);
}

void Disconnect(int fd) {
  const sockaddr none = {.sa_family = AF_UNSPEC, .sa_data = {}};
  // Fails only if the connection has ended.
  static_cast<void>(connect(fd, &none, sizeof(none)));
}

void Reset(int fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace telemetry::net
