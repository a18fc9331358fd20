#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::worker::device {

// The element types of tensors. Values in registers are float32 (int32 for integers and booleans). f16 and bf16 are
// storage types and operand types of the tensor cores.
enum class DType { kF32, kF16, kBF16, kI32, kBool };

inline constexpr DType kAllDTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kBool};

// Returns the bytes of one element in a tensor.
constexpr size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kBool:
      return 1;
  }
  return 0;
}

constexpr bool IsFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16; }

// Returns the name that commands use: "f32", "f16", "bf16", "i32", "bool".
std::string_view ShortName(DType dtype);
// Returns the name that sidecars use (FORMATS.md), such as "torch.float32".
std::string_view TorchName(DType dtype);
// Parses either name. INVALID_ARGUMENT: the message lists the valid names.
absl::StatusOr<DType> ParseDType(std::string_view text);

}  // namespace telemetry::worker::device
