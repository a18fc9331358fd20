#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::worker::device {

// The element types of tensors. Values in registers are float32 for floats, int32 for booleans and for integers that an
// int32 can hold, and else of the integer's own type. f16 and bf16 are storage types and operand types of the tensor
// cores. The numbers of the enumerators are arguments of kernels (kernel_words.h).
enum class DType { kF32, kF16, kBF16, kI32, kBool, kI8, kI16, kI64, kU8, kU16, kU32, kU64 };

inline constexpr DType kAllDTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kBool, DType::kI8,
                                       DType::kI16, DType::kI64, DType::kU8,   DType::kU16, DType::kU32,  DType::kU64};

// Returns the bytes of one element in a tensor.
constexpr size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kI64:
    case DType::kU64:
      return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
      return 1;
  }
  return 0;
}

constexpr bool IsFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16; }
// Returns true for integers; bool is none.
constexpr bool IsInteger(DType dtype) { return !IsFloat(dtype) && dtype != DType::kBool; }
// Returns true for integers that cannot be negative.
constexpr bool IsUnsigned(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64;
}

// Returns the name that commands use: "f32", "f16", "bf16", "bool", "i8" to "i64", "u8" to "u64".
std::string_view ShortName(DType dtype);
// Returns the name that sidecars use (FORMATS.md), such as "torch.float32".
std::string_view TorchName(DType dtype);
// Parses either name. INVALID_ARGUMENT: the message lists the valid names.
absl::StatusOr<DType> ParseDType(std::string_view text);

}  // namespace telemetry::worker::device
