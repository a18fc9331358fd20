#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "worker/debug/debug_value.h"
#include "worker/debug/tensor_statistics.h"

namespace telemetry::worker::debug {

// The first tensor with a NaN in one run of a program.
struct FirstNan {
  std::string tensor;  // the program's name for the tensor
  std::string kernel;  // the kernel that wrote the tensor; empty: it is an input of the program
  int64_t nans = 0;
  int64_t elements = 0;

  // Returns "the first tensor with a NaN is 'weights' (3 of 64 elements), made by kernel 'softmax'".
  std::string ToString() const;
};

// Looks for the first tensor with a NaN in one run of a program. Not thread-safe.
class NanWatch {
 public:
  // Begins another run and forgets the earlier one.
  void Begin();

  // Records that a launch wrote this memory. Callers report every launch, even those whose values are not inspected.
  void Wrote(std::string_view kernel, std::string_view memory) { makers_[std::string(memory)] = kernel; }

  // Inspects the arguments of launches in program order. Returns true if `value` is the first with a NaN. `made_by` is
  // the kernel that has just run with this argument; empty if the launch has not run yet. NaNs in an output of a launch
  // that has not run yet do not count.
  bool See(const DebugValue& value, const TensorStatistics& statistics, std::string_view made_by);

  const std::optional<FirstNan>& first() const { return first_; }

 private:
  absl::flat_hash_map<std::string, std::string> makers_;  // memory name to the kernel that wrote it last
  std::optional<FirstNan> first_;
};

}  // namespace telemetry::worker::debug
