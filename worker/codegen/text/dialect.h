#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/codegen/target.h"
#include "worker/codegen/text/register_type.h"
#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::text {

// The cache eviction policy of a load or store.
enum class Eviction { kNone, kFirst, kLast };

// The differences between CUDA C++ and OpenCL C, and the helper functions that generated code calls. The kernel body is
// the same text in both dialects: it uses the macros GLOBAL, LOCAL, FN, UNROLL and BARRIER(), which the prelude
// defines. Each ...Function() method adds a helper function to the prelude and returns its name. Not thread-safe.
class DialectText {
 public:
  DialectText(const Target& target, const GenerateOptions& options) : target_(target), options_(options) {}
  bool is_cuda() const { return target_.dialect == device::Dialect::kCuda; }

  // void(const GLOBAL T* from, R* to): loads `count` elements. `from` is aligned to their total size. R is the dtype's
  // register type.
  std::string LoadFunction(device::DType dtype, int64_t count, Eviction eviction);
  // void(GLOBAL T* to, const R* from): stores `count` elements. `eviction` is kNone or kFirst.
  std::string StoreFunction(device::DType dtype, int64_t count, Eviction eviction);
  // float(float): rounds to the nearest f16 or bf16 value.
  std::string RoundFunction(device::DType dtype);
  // u16(float): returns the bits of the float rounded to f16 or bf16.
  std::string ToBitsFunction(device::DType dtype);
  // u32(float, float): converts two floats to f16 or bf16 in one instruction; the first is in the low half. CUDA only.
  std::string PackFunction(device::DType dtype);
  // Returns the C expression of an elementary function of a float, or "" if `op` is not an elementary function.
  std::string Math(ir::Op op, const std::string& x);
  std::string Divide(const std::string& x, const std::string& y);
  // R(R, R): returns the larger argument, or the smaller one if `minimum`; NaN if either is NaN.
  std::string MaximumFunction(RegisterType type, bool minimum);
  // Adds a function to the prelude unless a function of that name was added before.
  void AddFunction(const std::string& name, const std::string& text);

  // Returns the C type that stores an element in memory, such as "u16" for f16.
  static std::string StorageType(device::DType dtype);
  static std::string FloatLiteral(double value);

  // Returns the source text that precedes the kernel.
  std::string Prelude() const;

 private:
  std::string FromBitsFunction(device::DType dtype);

  const Target& target_;
  const GenerateOptions& options_;
  std::vector<std::pair<std::string, std::string>> functions_;  // name and text, in the order of their first use
};

}  // namespace telemetry::worker::codegen::text
