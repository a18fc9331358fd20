#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/text/dialect.h"
#include "worker/codegen/text/mma_functions.h"

namespace telemetry::worker::codegen::text {

// The helper functions that dots with wgmma call. Each function here adds a helper to the prelude and returns its name.

// The operands of one wgmma instruction: 64 rows and `columns` columns of 16 elements of the summed axis.
struct Wgmma {
  MmaType type = MmaType::kF16;
  int64_t columns = 0;  // a multiple of 8, at most 256
  bool rows_in_registers = false;
  bool rows_are_inside = false;     // in shared memory, contiguous along the row axis instead of the summed axis
  bool columns_are_inside = false;  // contiguous along the column axis instead of the summed axis
  bool overwrites = false;          // sets the sums to the products instead of adding them
};

// void(float* upper, float* lower, rows, columns): adds the products to the thread's sums of its upper and its lower
// row. `rows` is the four registers of mma's m16n8k16 (const u32*) or a matrix in shared memory (u64); `columns` is a
// matrix in shared memory (u64). The instruction owns the registers of the sums, and of the rows, until finish_wgmma.
std::string WgmmaFunction(DialectText& dialect, const Wgmma& wgmma);

// u64(const void* block): returns the descriptor of a matrix in blocks with rows of `row_bytes` bytes (MmaOperand). The
// pointer is the beginning of the matrix's first block or an address inside it. The next block is `next_block` bytes
// further.
std::string MatrixFunction(DialectText& dialect, int64_t row_bytes, int64_t next_block);

// void(float* or u32* first, int count): keeps the compiler from moving accesses to these registers across the call.
// Writes before the call are visible to wgmma after begin_wgmma. Reads after finish_wgmma and a second call return the
// results of wgmma.
std::string SettleFunction(DialectText& dialect);
// void(): begin_wgmma precedes the first instruction of a dot, send_wgmma follows the last one and closes the group of
// instructions, and finish_wgmma waits until all groups are complete except the last `groups_left`.
std::string BeginFunction(DialectText& dialect);
std::string SendFunction(DialectText& dialect);
std::string FinishFunction(DialectText& dialect, int64_t groups_left = 0);

// void(const float* values, int count): keeps the compiler from moving a later finish_wgmma before the computation of
// the values. ptxas otherwise moves the wait up, even before code that does not need the results.
std::string HoldFunction(DialectText& dialect);

// void(): makes the thread's writes to shared memory visible to wgmma after a barrier that follows.
std::string ShareFunction(DialectText& dialect);

}  // namespace telemetry::worker::codegen::text
