#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::worker::spec {

// The element types of a kernel's arguments.
enum class ElementType { kF64, kF32, kF16, kBF16, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kBool };

size_t SizeOf(ElementType type);
bool IsFloat(ElementType type);
bool IsSigned(ElementType type);

// Returns the short name: "f32", "u8", "bool".
std::string_view ShortName(ElementType type);
// Returns the name that sidecars use: "torch.float32", "torch.uint8".
std::string_view TorchName(ElementType type);

// A type of T1: an element type, and the number of elements in a vector type ("float4": 4).
struct ArgumentType {
  ElementType element = ElementType::kF32;
  int lanes = 1;
};

// Parses a type of T1 ("float", "int32", "half2", "double4"), a short name or a name of C ("int", "unsigned char").
// INVALID_ARGUMENT: unknown; the message lists the names.
absl::StatusOr<ArgumentType> ParseArgumentType(std::string_view text);

// Returns the type's name in T1: "float4".
std::string T1Name(const ArgumentType& type);

}  // namespace telemetry::worker::spec
