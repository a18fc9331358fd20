#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::debug {

// A folder of tensors in NumPy files: before_launch_softmax_x.npy for the first launch of a kernel,
// before_launch_softmax_x.2.npy for the second. Existing files are never overwritten; the numbers of a kernel's
// launches continue after them. Not thread-safe; several processes may use one folder.
class ValueFiles {
 public:
  explicit ValueFiles(std::string folder) : folder_(std::move(folder)) {}

  // Begins a launch, whose files get a new number.
  void BeginLaunch(std::string_view kernel) { ++launches_[std::string(kernel)]; }

  // Returns the number of the last launch of a kernel; 0: there was none.
  int launch(std::string_view kernel) const {
    const auto found = launches_.find(std::string(kernel));
    return found == launches_.end() ? 0 : found->second;
  }

  // Saves one argument of the last launch. `when` is "before_launch" or "after_launch". Creates the folder if
  // necessary. Deletes a file that cannot be written completely. Returns RESOURCE_EXHAUSTED if the disk is full; other
  // errors are those of the file system, with the path, and of the device.
  absl::Status Save(std::string_view when, std::string_view kernel, std::string_view argument,
                    const runtime::Tensor& tensor);

 private:
  const std::string folder_;
  absl::flat_hash_map<std::string, int> launches_;
};

}  // namespace telemetry::worker::debug
