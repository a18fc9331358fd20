#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune::process {

// Returns the memory, in bytes, that can be allocated before the kernel kills processes.
size_t AvailableBytes();

// Shared memory (memfd) of a fixed size for two processes, for payloads that are too large for a message. One process
// creates it and sends fd() with a message; the other opens the received descriptor. Both may write; the protocol
// between them must define the order of writes. The memory is page-aligned and initially zero. A move does not copy the
// bytes and keeps their address.
class SharedBytes {
 public:
  SharedBytes() = default;  // no bytes
  SharedBytes(SharedBytes&& other) noexcept;
  SharedBytes& operator=(SharedBytes&& other) noexcept;
  ~SharedBytes();

  // Allocates all memory at once, so that later writes cannot fail. `name` appears in /proc/PID/maps.
  // RESOURCE_EXHAUSTED: there is not enough memory, or no descriptor is left.
  static absl::StatusOr<SharedBytes> Create(const std::string& name, size_t size_bytes);
  static absl::StatusOr<SharedBytes> CreateCopy(const std::string& name, absl::Span<const std::byte> bytes);

  // Maps memory that another process created. INVALID_ARGUMENT: the descriptor is not such memory (its size could still
  // change).
  static absl::StatusOr<SharedBytes> Open(OwnedFd fd);

  // Returns the descriptor to send; this object keeps ownership. -1 for an empty object that was not created by Create.
  int fd() const { return fd_.get(); }
  absl::Span<const std::byte> bytes() const { return {data_, size_bytes_}; }
  absl::Span<std::byte> mutable_bytes() { return {data_, size_bytes_}; }

 private:
  SharedBytes(OwnedFd fd, std::byte* data, size_t size_bytes)
      : fd_(std::move(fd)), data_(data), size_bytes_(size_bytes) {}
  static absl::StatusOr<SharedBytes> Map(OwnedFd fd, size_t size_bytes);

  OwnedFd fd_;
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace telemetry::worker::tune::process
