#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "worker/debug/debug_value.h"
#include "worker/debug/tensor_statistics.h"

namespace telemetry::worker::debug {

// Where NaNs begin in a program.
struct FirstNan {
  std::string tensor;  // what the program calls it
  std::string kernel;  // that made it; empty: an input of the program
  int64_t nans = 0;
  int64_t elements = 0;

  // "the first tensor with a NaN is 'weights' (3 of 64 elements), made by kernel 'softmax'"
  std::string ToString() const;
};

// Looks for the first tensor with a NaN in one run of a program. Not thread-safe.
class NanWatch {
 public:
  // Another run begins.
  void Begin();

  // A launch, whether its values are looked at or not, has written this memory.
  void Wrote(std::string_view kernel, std::string_view memory) { makers_[std::string(memory)] = kernel; }

  // What was looked at, in the order of the program. True where it is the first with a NaN: what a launch is still to
  // write does not count. `made_by`: a kernel that has just run, to which it is an argument; empty: one that is to run.
  bool See(const DebugValue& value, const TensorStatistics& statistics, std::string_view made_by);

  const std::optional<FirstNan>& first() const { return first_; }

 private:
  absl::flat_hash_map<std::string, std::string> makers_;
  std::optional<FirstNan> first_;
};

}  // namespace telemetry::worker::debug
