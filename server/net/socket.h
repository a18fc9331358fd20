#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace telemetry::net {

// A descriptor that is closed with its owner; -1: none.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();
  // Gives the descriptor away without closing it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Identifies an open file; a descriptor's number alone is used again as soon as it is closed.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

// Returns the file that `fd` refers to; nothing: `fd` is closed.
std::optional<FileId> FileOf(int fd);

// Returns how many bytes whoever serves this connection has read from it; nothing: the system does not say.
std::optional<uint64_t> ReadBytesOf(int fd);

// Resets a connection, also for other descriptors of the same socket, and drops the received bytes that nobody has
// read.
void Disconnect(int fd);

// Closes a connection with a reset, so that the kernel keeps nothing of it.
void Reset(int fd);

}  // namespace telemetry::net
