#pragma once

#include <string>

#include "worker/codegen/dialect.h"
#include "worker/codegen/mma_plan.h"

namespace telemetry::worker::codegen {

// The functions that a dot on tensor cores calls. Each of these sees to it that the prelude has it, and says its name.

// void(float& c0, float& c1, float& c2, float& c3, const u32* a, const u32* b): c += a * b, a tile of 16 x 8 sums.
std::string MmaFunction(DialectText& dialect, MmaType type);
// void(u32 row, u32* to): four (two) matrices of 8 x 8 elements of 16 bits, whose rows the lanes point at in shared
// memory, eight of them each.
std::string LoadMatrixFunction(DialectText& dialect, int count, bool transposed);
// u32(const void* p): the address inside shared memory.
std::string SharedAddressFunction(DialectText& dialect);
// u32(float x): as tf32, to the nearest.
std::string ToTf32Function(DialectText& dialect);

}  // namespace telemetry::worker::codegen
