#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker::debug {

// A folder of tensors, as files that numpy opens: before_launch_softmax_x.npy of a kernel's first launch,
// before_launch_softmax_x.2.npy of its second. What is in the folder stays as it is: a kernel's launches are numbered
// on from there. Not thread-safe; several processes may use one folder.
class ValueFiles {
 public:
  explicit ValueFiles(std::string folder) : folder_(std::move(folder)) {}

  // The files of this launch have a number of their own.
  void BeginLaunch(std::string_view kernel) { ++launches_[std::string(kernel)]; }

  // The number of the launch that began last; 0: none did.
  int launch(std::string_view kernel) const {
    const auto found = launches_.find(std::string(kernel));
    return found == launches_.end() ? 0 : found->second;
  }

  // `when`: "before_launch" or "after_launch". Makes the folder when it is not there. What cannot be written whole is
  // not left behind. RESOURCE_EXHAUSTED: the disk is full. Other errors are the file system's, which name the file, and
  // the device's.
  absl::Status Save(std::string_view when, std::string_view kernel, std::string_view argument, const Tensor& tensor);

 private:
  const std::string folder_;
  absl::flat_hash_map<std::string, int> launches_;
};

}  // namespace telemetry::worker::debug
