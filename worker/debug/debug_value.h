#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "worker/debug/tensor_statistics.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker::debug {

// A size that is not fixed in the code: what it is, and what it is in this launch.
struct SymbolicSize {
  int64_t value = 0;
};

// An argument of a launch, an output, or an input of a program.
struct DebugValue {
  std::string name;  // the kernel's: "x", "eps", "x.size(0)"
  std::variant<Tensor, int64_t, double, bool, SymbolicSize> value;
  // Of a tensor in a program: what the program calls it, and the memory that it lies in, which differs from that for
  // views. Empty: as its name.
  std::string buffer;
  std::string memory;
  bool is_output = false;  // the launch writes it

  const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
  const std::string& buffer_name() const { return buffer.empty() ? name : buffer; }
  const std::string& memory_name() const { return memory.empty() ? buffer_name() : memory; }
};

// All elements are shown of tensors that have no more than so many.
inline constexpr int64_t kMostShownElements = 64;

// "mean=0.5 min=0 max=1 std=0.25 nan=0 inf=0"
std::string StatisticsText(const TensorStatistics& statistics, DType dtype);
// "buffer=buf0 elements=2 sizes=[2] strides=[1] dtype=f32 mean=... values=[0.5, 1]"; `elements` are those to show.
std::string TensorText(const DebugValue& value, const TensorStatistics& statistics, absl::Span<const double> elements);
// "0.5 (float)". Not for tensors.
std::string NumberText(const DebugValue& value);

}  // namespace telemetry::worker::debug
