#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune {

// Memory that two processes see (memfd), of a size that is fixed for ever: a payload too large for a message. One
// creates it and sends fd() along with a message; the other opens what it received. Both may write; who writes when is
// the protocol's matter. Page-aligned, zero at first. Not copied: moving leaves the bytes where they are.
class SharedBytes {
 public:
  SharedBytes() = default;  // no bytes
  SharedBytes(SharedBytes&& other) noexcept;
  SharedBytes& operator=(SharedBytes&& other) noexcept;
  ~SharedBytes();

  // All of the memory is allocated at once, so that writing it cannot fail later. `name` is seen in /proc/PID/maps.
  // RESOURCE_EXHAUSTED: there is not so much, or no descriptor is left.
  static absl::StatusOr<SharedBytes> Create(const std::string& name, size_t size_bytes);
  static absl::StatusOr<SharedBytes> CopyOf(const std::string& name, absl::Span<const std::byte> bytes);

  // What another process created. INVALID_ARGUMENT: not such memory (its size could still change).
  static absl::StatusOr<SharedBytes> Open(OwnedFd fd);

  // To be sent; stays this object's. -1 for an object without bytes that was not created.
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

}  // namespace telemetry::worker::tune
