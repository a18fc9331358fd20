#include "worker/codegen/text/mma_functions.h"

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::text {
namespace {

using record::Cat;

std::string_view PtxType(MmaType type) {
  return type == MmaType::kF16 ? "f16" : type == MmaType::kBF16 ? "bf16" : "tf32";
}

}  // namespace

std::string MmaFunction(DialectText& dialect, MmaType type) {
  std::string name = Cat("mma_", PtxType(type));
  dialect.AddFunction(
      name,
      Cat("FN void ", name,
          "(float& c0, float& c1, float& c2, float& c3, const u32* a, const u32* b) {\n"
          "  asm volatile(\"mma.sync.aligned.m16n8k",
          MmaDepth(type), ".row.col.f32.", PtxType(type), ".", PtxType(type),
          ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
          "               : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3)\n"
          "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n"));
  return name;
}

std::string LoadMatrixFunction(DialectText& dialect, int count, bool transposed) {
  std::string name = Cat("load_matrix_x", count, transposed ? "_transposed" : "");
  std::string text = Cat("FN void ", name, "(u32 row, u32* to) {\n  asm volatile(\"ldmatrix.sync.aligned.m8n8.x", count,
                         transposed ? ".trans" : "", ".shared.b16 ");
  text += count == 4 ? "{%0, %1, %2, %3}, [%4];\" : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])"
                     : "{%0, %1}, [%2];\" : \"=r\"(to[0]), \"=r\"(to[1])";
  dialect.AddFunction(name, text + " : \"r\"(row) : \"memory\");\n}\n");
  return name;
}

std::string SharedAddressFunction(DialectText& dialect) {
  dialect.AddFunction("shared_address",
                      "FN u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }\n");
  return "shared_address";
}

std::string ToTf32Function(DialectText& dialect) {
  dialect.AddFunction("to_tf32",
                      "FN u32 to_tf32(float x) {\n  u32 bits;\n  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits) : "
                      "\"f\"(x));\n  return bits;\n}\n");
  return "to_tf32";
}

}  // namespace telemetry::worker::codegen::text
