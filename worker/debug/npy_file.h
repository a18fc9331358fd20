#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::debug {

// NumPy's file format, version 1.0 (numpy.lib.format). NumPy has no bf16. Such elements are written as f32, which
// represents every bf16 exactly.

// Returns the header before the elements: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" with the magic
// number, the version and padding.
std::string NpyHeader(device::DType dtype, absl::Span<const int64_t> sizes);

// Converts row-major elements in the representation of a device to those of the file. Bools become 0 and 1.
std::vector<std::byte> NpyElements(device::DType dtype, std::vector<std::byte> dense);

// A new file that is being written. Its destructor deletes the file unless Close() succeeded.
class NewFile {
 public:
  NewFile() = default;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Returns ALREADY_EXISTS if the file exists; it is not changed. Error messages contain the path and the reason.
  absl::Status Create(const std::string& path);
  // Returns RESOURCE_EXHAUSTED if the disk is full. Error messages contain the path.
  absl::Status Write(absl::Span<const std::byte> bytes);
  // Closes the file, which then stays. On an error, which may be a delayed write error, deletes the file.
  absl::Status Close();

 private:
  absl::Status Error() const;

  std::string path_;
  int fd_ = -1;
};

}  // namespace telemetry::worker::debug
