#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/dialect.h"
#include "worker/codegen/mma_plan.h"

namespace telemetry::worker::codegen {

// The functions that a dot with wgmma calls. Each of these sees to it that the prelude has it, and says its name.

// One instruction's operands: 64 rows and `columns` of them, of 16 elements of the summed axis each.
struct Wgmma {
  MmaType type = MmaType::kF16;
  int64_t columns = 0;  // a multiple of 8, at most 256
  bool rows_in_registers = false;
  bool rows_are_inside = false;     // in shared memory, contiguous along the rows rather than the summed axis
  bool columns_are_inside = false;  // likewise
};

// void(float* upper, float* lower, rows, columns): adds the products to the thread's sums, those of its upper row and
// of the lower one. Rows are the four registers of mma's m16n8k16 (const u32*), or a matrix in shared memory as columns
// are (u64). The sums, and rows in registers, are the instruction's until finish_wgmma.
std::string WgmmaFunction(DialectText& dialect, const Wgmma& wgmma);

// u64(const void* block): the matrix in blocks with rows of so many bytes (MmaOperand) whose first block is this one,
// or that begins in it; `next_block` bytes further is the next one.
std::string MatrixFunction(DialectText& dialect, int64_t row_bytes, int64_t next_block);

// void(float* or u32* first, int count): what was written to these registers is there for wgmma after begin_wgmma, and
// what is read of them behind finish_wgmma and another such call is wgmma's.
std::string SettleFunction(DialectText& dialect);
// Before the first instruction of a dot, and behind its last: void().
std::string BeginFunction(DialectText& dialect);
std::string SendFunction(DialectText& dialect);
std::string FinishFunction(DialectText& dialect);

// void(): what the thread has written to shared memory is there for wgmma, behind a barrier.
std::string ShareFunction(DialectText& dialect);

}  // namespace telemetry::worker::codegen
