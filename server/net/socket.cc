#include "server/net/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

std::optional<FileId> FileOf(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return std::nullopt;
  return FileId{.device = file.st_dev, .inode = file.st_ino};
}

void Reset(int fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace telemetry::net
