#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "worker/spec/element_type.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// Conversion between numbers and elements in memory, little endian.

// Writes a number to SizeOf(type) bytes. Floating point numbers are rounded to nearest. INVALID_ARGUMENT: an integer
// type does not have the number.
absl::Status EncodeElement(ElementType type, const Value& number, std::byte* to);

// Reads a number from SizeOf(type) bytes. Integers beyond 2^53 are rounded.
double DecodeElement(ElementType type, const std::byte* from);

}  // namespace telemetry::worker::spec
