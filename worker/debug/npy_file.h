#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::debug {

// Numpy's own format, version 1.0 (numpy.lib.format). numpy has no bf16: such elements are written as f32, which holds
// every one of them.

// What stands before the elements: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", padded.
std::string NpyHeader(DType dtype, absl::Span<const int64_t> sizes);

// The elements as the file has them, of those that a device stores, row-major; bools become 0 and 1.
std::vector<std::byte> NpyElements(DType dtype, std::vector<std::byte> dense);

// A file that is being made, and was not there before. It is removed again unless it becomes whole.
class NewFile {
 public:
  NewFile() = default;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // ALREADY_EXISTS: there is one of that name, which stays as it is. Other errors name the file and say why not.
  absl::Status Create(const std::string& path);
  // RESOURCE_EXHAUSTED: the disk is full. Other errors name the file, too.
  absl::Status Write(absl::Span<const std::byte> bytes);
  absl::Status Close();

 private:
  absl::Status Error() const;

  std::string path_;
  int fd_ = -1;
};

}  // namespace telemetry::worker::debug
