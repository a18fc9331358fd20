#include "worker/codegen/text/wgmma_functions.h"

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::text {
namespace {

using record::Cat;

std::string AddStatement(DialectText& dialect, const std::string& name, const std::string& instruction) {
  dialect.AddFunction(name, Cat("FN void ", name, "() { asm volatile(\"", instruction, ";\" ::: \"memory\"); }\n"));
  return name;
}

}  // namespace

std::string WgmmaFunction(DialectText& dialect, const Wgmma& wgmma) {
  const std::string_view type = wgmma.type == MmaType::kF16 ? "f16" : "bf16";
  std::string name = Cat("wgmma_", type, "_", wgmma.columns, wgmma.rows_in_registers ? "_in_registers" : "",
                         wgmma.rows_are_inside ? "_rows_inside" : "", wgmma.columns_are_inside ? "_columns_inside" : "",
                         wgmma.overwrites ? "_first" : "");
  const int64_t sums = wgmma.columns / 2;
  std::string numbers;
  std::string outputs;
  for (int64_t i = 0; i < sums; ++i) {
    numbers += Cat(i == 0 ? "" : ", ", "%", i);
    outputs += Cat(i == 0 ? "" : ", ", wgmma.overwrites ? "\"=f\"(" : "\"+f\"(", i / 2 % 2 == 0 ? "upper" : "lower",
                   "[", i / 4 * 2 + i % 2, "])");
  }
  const int64_t rows = wgmma.rows_in_registers ? 4 : 1;
  std::string rows_text = Cat("%", sums);
  if (rows == 4) rows_text = Cat("{%", sums, ", %", sums + 1, ", %", sums + 2, ", %", sums + 3, "}");
  dialect.AddFunction(
      name, Cat("FN void ", name, "(float* upper, float* lower, ", rows == 4 ? "const u32* rows" : "u64 rows",
                ", u64 columns) {\n  asm volatile(\"wgmma.mma_async.sync.aligned.m64n", wgmma.columns, "k16.f32.", type,
                ".", type, "\"\n               \" {", numbers, "},\"\n               \" ", rows_text, ", %",
                sums + rows, wgmma.overwrites ? ", 0, 1, 1" : ", 1, 1, 1",
                rows == 4               ? ""
                : wgmma.rows_are_inside ? ", 1"
                                        : ", 0",
                wgmma.columns_are_inside ? ", 1" : ", 0", ";\"\n               : ", outputs, "\n               : ",
                rows == 4 ? "\"r\"(rows[0]), \"r\"(rows[1]), \"r\"(rows[2]), \"r\"(rows[3])" : "\"l\"(rows)",
                ", \"l\"(columns)\n               : \"memory\");\n}\n"));
  return name;
}

// The bits of the matrix descriptor are defined in the description of wgmma in the PTX ISA: the address, the distances
// to the next block and to the next eight rows, all three in units of 16 bytes, and the swizzle mode.
std::string MatrixFunction(DialectText& dialect, int64_t row_bytes, int64_t next_block) {
  std::string name = Cat("matrix_", row_bytes, "_", next_block);
  const int64_t swizzle = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
  dialect.AddFunction(
      name, Cat("FN u64 ", name, "(const void* block) {\n", "  const u32 at = (u32)__cvta_generic_to_shared(block);\n",
                "  return (at & 0x3ffff) >> 4 | (u64)", next_block / 16, " << 16 | (u64)", row_bytes / 2,
                " << 32 | (u64)", swizzle, " << 62;\n}\n"));
  return name;
}

std::string SettleFunction(DialectText& dialect) {
  dialect.AddFunction("settle", R"(FN void settle(float* first, int count) {
  UNROLL
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(first[i]) :: "memory");
}
FN void settle(u32* first, int count) {
  UNROLL
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(first[i]) :: "memory");
}
)");
  return "settle";
}

// The sleep never happens: no computation yields this NaN. It is an instruction with an effect, which ptxas does not
// exchange with the wait.
std::string HoldFunction(DialectText& dialect) {
  dialect.AddFunction("hold_wait", R"(FN void hold_wait(const float* values, int count) {
  UNROLL
  for (int i = 0; i < count; ++i) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fedcba9; @p nanosleep.u32 1; }"
                 :: "r"(__float_as_uint(values[i])) : "memory");
  }
}
)");
  return "hold_wait";
}

std::string BeginFunction(DialectText& dialect) {
  return AddStatement(dialect, "begin_wgmma", "wgmma.fence.sync.aligned");
}
std::string SendFunction(DialectText& dialect) {
  return AddStatement(dialect, "send_wgmma", "wgmma.commit_group.sync.aligned");
}
std::string FinishFunction(DialectText& dialect, int64_t groups_left) {
  return AddStatement(dialect, groups_left == 0 ? "finish_wgmma" : Cat("finish_wgmma_but_", groups_left),
                      Cat("wgmma.wait_group.sync.aligned ", groups_left));
}
std::string ShareFunction(DialectText& dialect) {
  return AddStatement(dialect, "share_with_wgmma", "fence.proxy.async.shared::cta");
}

}  // namespace telemetry::worker::codegen::text
