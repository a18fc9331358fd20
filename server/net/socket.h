#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace telemetry::net {

// An owned descriptor, which the destructor closes. -1: none.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();
  // Returns the descriptor and gives up its ownership without closing it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The identity of an open file. The number of a descriptor does not identify it, because the system reuses numbers.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

// Returns the file that `fd` refers to, or nullopt if `fd` is closed.
std::optional<FileId> ReadFileId(int fd);

// Returns the number of bytes that have arrived on this TCP connection, or nullopt if the system does not report it.
std::optional<uint64_t> CountReceivedBytes(int fd);
// Returns how many of them have not been read yet.
std::optional<uint64_t> CountUnreadBytes(int fd);

// Resets a connection, including all other descriptors of the same socket, and discards received bytes that have not
// been read.
void Disconnect(int fd);

// Closes a connection with a reset, so that the kernel keeps no state of it.
void Reset(int fd);

}  // namespace telemetry::net
