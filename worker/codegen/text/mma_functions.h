#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::text {

// The element type of the operands of a dot on tensor cores.
enum class MmaType { kF16, kBF16, kTf32 };

// Returns the number of elements of the summed axis that one instruction multiplies.
constexpr int64_t MmaDepth(MmaType type) { return type == MmaType::kTf32 ? 8 : 16; }

// The helper functions that dots on tensor cores call. Each function here adds a helper to the prelude and returns its
// name.

// void(float& c0, float& c1, float& c2, float& c3, const u32* a, const u32* b): c += a * b for a tile of 16 x 8 sums.
std::string MmaFunction(DialectText& dialect, MmaType type);
// void(u32 row, u32* to): loads `count` (2 or 4) matrices of 8 x 8 elements of 16 bits from shared memory. Each lane
// passes the address of one row; eight consecutive lanes address the rows of one matrix.
std::string LoadMatrixFunction(DialectText& dialect, int count, bool transposed);
// u32(const void* p): returns the address in shared memory.
std::string SharedAddressFunction(DialectText& dialect);
// u32(float x): rounds to the nearest tf32.
std::string ToTf32Function(DialectText& dialect);

}  // namespace telemetry::worker::codegen::text
