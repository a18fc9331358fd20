#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/codegen/generate.h"
#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// How the caches are to treat what is loaded or stored.
enum class Eviction { kNone, kFirst, kLast };

// What differs between CUDA C++ and OpenCL C, and the small functions that generated code calls. The code between is
// the same text in both: it says GLOBAL, LOCAL, FN, UNROLL, BARRIER() and leaves the rest to the prelude. Functions are
// named by the calls below, which also see to it that the prelude has them. Not thread-safe.
class DialectText {
 public:
  DialectText(const Target& target, const GenerateOptions& options) : target_(target), options_(options) {}
  bool is_cuda() const { return target_.dialect == Dialect::kCuda; }

  // A function void(const GLOBAL T* from, float or int* to) that loads `count` elements, aligned to all of them.
  std::string LoadFunction(DType dtype, int64_t count, Eviction eviction);
  // void(GLOBAL T* to, const float or int* from). Eviction: kNone or kFirst.
  std::string StoreFunction(DType dtype, int64_t count, Eviction eviction);
  // float(float): to the nearest f16 or bf16 and back.
  std::string RoundFunction(DType dtype);
  // The bits of a float as f16 or bf16: u16(float).
  std::string ToBitsFunction(DType dtype);
  // CUDA: two floats as f16 or bf16 in one instruction, the first one low: u32(float, float).
  std::string PackFunction(DType dtype);
  // The C expression of an elementary function of floats; empty: not one.
  std::string Math(ir::Op op, const std::string& x);
  std::string Divide(const std::string& x, const std::string& y);
  // Comparisons in which a NaN wins: float or int (x, y).
  std::string MaximumFunction(bool is_float, bool minimum);
  // Adds a function of the caller's to the prelude, once.
  void AddFunction(const std::string& name, const std::string& text);

  // "const GLOBAL u16* RESTRICT".
  static std::string StorageType(DType dtype);
  static std::string FloatLiteral(double value);

  // Everything that stands before the kernel.
  std::string Prelude() const;

 private:
  std::string FromBitsFunction(DType dtype);

  const Target& target_;
  const GenerateOptions& options_;
  std::vector<std::pair<std::string, std::string>> functions_;  // name and text, in the order of their first use
};

}  // namespace telemetry::worker::codegen
