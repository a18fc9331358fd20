#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "worker/debug/tensor_statistics.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::debug {

// A size that the generated code reads at run time, with its value in this launch.
struct SymbolicSize {
  int64_t value = 0;
};

// An argument of a launch, an output, or an input of a program.
struct DebugValue {
  std::string name;  // the kernel's name for the argument: "x", "eps", "x.size(0)"
  std::variant<runtime::Tensor, int64_t, double, bool, SymbolicSize> value;
  std::string buffer;  // of a tensor in a program: the program's name for it; empty: `name`
  std::string memory;  // of a tensor in a program: the memory that holds it, which differs for views; empty: `buffer`
  bool is_output = false;  // the launch writes it

  const runtime::Tensor* tensor() const { return std::get_if<runtime::Tensor>(&value); }
  const std::string& buffer_name() const { return buffer.empty() ? name : buffer; }
  const std::string& memory_name() const { return memory.empty() ? buffer_name() : memory; }
};

// The largest number of elements of a tensor whose elements are printed.
inline constexpr int64_t kMostShownElements = 64;

// Returns "mean=0.5 min=0 max=1 std=0.25 nan=0 inf=0".
std::string StatisticsText(const TensorStatistics& statistics, device::DType dtype);
// Returns "buffer=buf0 elements=2 sizes=[2] strides=[1] dtype=f32 mean=... values=[0.5, 1]". `elements` are all
// elements of the tensor in row-major order; they are ignored, and may be empty, for more than kMostShownElements
// elements.
std::string TensorText(const DebugValue& value, const TensorStatistics& statistics, absl::Span<const double> elements);
// Returns "0.5 (float)", or an empty string for a tensor.
std::string NumberText(const DebugValue& value);

}  // namespace telemetry::worker::debug
