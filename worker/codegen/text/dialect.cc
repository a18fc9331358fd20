#include "worker/codegen/text/dialect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::text {
namespace {

using device::DType;
using record::Cat;

constexpr std::string_view kCudaPrelude = R"(typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define GLOBAL
#define LOCAL
#define RESTRICT __restrict__
#define FN static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define BARRIER() __syncthreads()
#define AS_FLOAT(x) __uint_as_float(x)
#define AS_U32(x) __float_as_uint(x)
)";

constexpr std::string_view kOpenClPrelude = R"(typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef long i64;
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define FN static inline
#define UNROLL // OpenCL compilers unroll what they can; told to, PoCL takes a hundred times as long
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define AS_FLOAT(x) as_float((uint)(x))
#define AS_U32(x) as_uint(x)
)";

constexpr std::string_view kCudaFromF16 = R"(FN float from_f16(u16 bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
)";
constexpr std::string_view kOpenClFromF16 = R"(FN float from_f16(u16 bits) { return vload_half(0, (const half*)&bits); }
)";
constexpr std::string_view kCudaToF16 = R"(FN u16 to_f16(float x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
)";
constexpr std::string_view kOpenClToF16 = R"(FN u16 to_f16(float x) {
  u16 bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return bits;
}
)";
// One instruction, as accurate as exp2f, except that results below 2^-126 are 0.
constexpr std::string_view kCudaExp2 = R"(FN float exp2_f(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
)";
// Two instructions instead of the dozen of expf. The relative error is 2^-22 + |x| * 2^-24.
constexpr std::string_view kCudaExp = R"(FN float exp_f(float x) { return exp2_f(x * 1.44269504f); }
)";
// Accurate to 2 units in the last place; OpenCL's division is accurate to 2.5 and PTX's div.full.f32 to 2. If a row is
// divided by its sum, all lines but the last have the same result for the entire row, and compilers compute them once.
// The factor keeps the inverses of the largest and the smallest numbers from becoming 0 or infinite.
constexpr std::string_view kCudaDivide = R"(FN float divide_f(float x, float y) {
  const float size = fabsf(y);
  const float factor = size > 1.26765060e+30f ? 5.42101086e-20f : size < 7.88860905e-31f ? 1.84467441e+19f : 1.0f;
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y * factor));
  return x * factor * inverse;
}
)";
constexpr std::string_view kFromBf16 = R"(FN float from_bf16(u16 bits) { return AS_FLOAT((u32)bits << 16); }
)";
constexpr std::string_view kCudaToBf16 = R"(FN u16 to_bf16(float x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
)";
constexpr std::string_view kOpenClToBf16 = R"(FN u16 to_bf16(float x) {
  const u32 bits = AS_U32(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
)";

// The C and PTX types of an access of 1 to 16 bytes.
struct Words {
  std::string type;   // "uint4"
  std::string ptx;    // "v4.u32"
  int64_t count = 1;  // 32-bit words; also 1 for smaller accesses
};

Words SplitIntoWords(int64_t bytes) {
  switch (bytes) {
    case 1:
      return {"u8", "u8", 1};
    case 2:
      return {"u16", "u16", 1};
    case 4:
      return {"u32", "u32", 1};
    case 8:
      return {"uint2", "v2.u32", 2};
    default:
      return {"uint4", "v4.u32", 4};
  }
}

std::string WordName(const Words& words, int64_t word) {
  return words.count == 1 ? "w" : Cat("w.", std::string(1, "xyzw"[word]));
}

std::string_view EvictionName(Eviction eviction) {
  return eviction == Eviction::kFirst ? "evict_first" : eviction == Eviction::kLast ? "evict_last" : "";
}

// Returns the words as an operand of PTX: "{%1, %2}". `first` is the number of the first register.
std::string Registers(const Words& words, int64_t first) {
  std::string list;
  for (int64_t i = 0; i < words.count; ++i) list += Cat(i == 0 ? "%" : ", %", first + i);
  return words.count == 1 ? list : Cat("{", list, "}");
}

// Returns "w = *(const GLOBAL uint4*)from;", or a PTX load with an eviction policy.
std::string ReadWords(const Words& words, Eviction eviction) {
  if (eviction == Eviction::kNone) return Cat("  const ", words.type, " w = *(const GLOBAL ", words.type, "*)from;\n");
  std::string outputs;
  for (int64_t i = 0; i < words.count; ++i) {
    // PTX has no registers of 8 bits.
    const std::string_view constraint = words.type == "u8" || words.type == "u16" ? "=h" : "=r";
    outputs += Cat(i == 0 ? "" : ", ", "\"", constraint, "\"(", WordName(words, i), ")");
  }
  return Cat("  ", words.type == "u8" ? "u16" : words.type,
             " w;\n  asm volatile(\"ld.global.L1::", EvictionName(eviction), ".", words.ptx, " ", Registers(words, 0),
             ", [%", words.count, "];\" : ", outputs, " : \"l\"(from));\n");
}

// Returns "*(GLOBAL uint4*)to = w;", or a PTX store that marks the cache line as the first to evict.
std::string WriteWords(const Words& words, Eviction eviction) {
  if (eviction == Eviction::kNone) return Cat("  *(GLOBAL ", words.type, "*)to = w;\n");
  std::string inputs;
  for (int64_t i = 0; i < words.count; ++i) {
    const std::string_view constraint = words.type == "u8" || words.type == "u16" ? "h" : "r";
    const std::string_view widened = words.type == "u8" ? "(u16)" : "";
    inputs += Cat(", \"", constraint, "\"(", widened, WordName(words, i), ")");
  }
  return Cat("  asm volatile(\"st.global.cs.", words.ptx, " [%0], ", Registers(words, 1), ";\" : : \"l\"(to)", inputs,
             " : \"memory\");\n");
}

std::string PackedStore(const std::string& name, const std::string& pack, const Words& words, Eviction eviction) {
  std::string text = Cat("FN void ", name, "(GLOBAL u16* to, const float* from) {\n  ", words.type, " w;\n");
  for (int64_t i = 0; i < words.count; ++i) {
    text += Cat("  ", WordName(words, i), " = ", pack, "(from[", 2 * i, "], from[", 2 * i + 1, "]);\n");
  }
  return Cat(text, WriteWords(words, eviction), "}\n");
}

}  // namespace

void DialectText::AddFunction(const std::string& name, const std::string& text) {
  const bool known =
      std::any_of(functions_.begin(), functions_.end(), [&name](const auto& f) { return f.first == name; });
  if (!known) functions_.emplace_back(name, text);
}

std::string DialectText::StorageType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kF16:
    case DType::kBF16:
      return "u16";
    case DType::kI32:
      return "int";
    case DType::kBool:
    case DType::kU8:
      return "u8";
    case DType::kI8:
      return "signed char";
    case DType::kI16:
      return "short";
    case DType::kU16:
      return "u16";
    case DType::kU32:
      return "u32";
    case DType::kI64:
      return "i64";
    case DType::kU64:
      return "unsigned long";
  }
  return "";
}

std::string DialectText::FloatLiteral(double value) {
  if (std::isnan(value)) return "AS_FLOAT(0x7fc00000u)";
  const auto narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow > 0 ? "AS_FLOAT(0x7f800000u)" : "AS_FLOAT(0xff800000u)";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(narrow));
  std::string literal = text;
  if (literal.find_first_of(".e") == std::string::npos) literal += ".0";
  literal += "f";
  return narrow < 0 || std::signbit(narrow) ? Cat("(", literal, ")") : literal;
}

std::string DialectText::FromBitsFunction(DType dtype) {
  if (dtype == DType::kBF16) {
    AddFunction("from_bf16", std::string(kFromBf16));
    return "from_bf16";
  }
  AddFunction("from_f16", std::string(is_cuda() ? kCudaFromF16 : kOpenClFromF16));
  return "from_f16";
}

std::string DialectText::ToBitsFunction(DType dtype) {
  if (dtype == DType::kBF16) {
    AddFunction("to_bf16", std::string(is_cuda() ? kCudaToBf16 : kOpenClToBf16));
    return "to_bf16";
  }
  AddFunction("to_f16", std::string(is_cuda() ? kCudaToF16 : kOpenClToF16));
  return "to_f16";
}

std::string DialectText::RoundFunction(DType dtype) {
  std::string name = Cat("round_", ShortName(dtype));
  const std::string from = FromBitsFunction(dtype);
  AddFunction(name, Cat("FN float ", name, "(float x) { return ", from, "(", ToBitsFunction(dtype), "(x)); }\n"));
  return name;
}

std::string DialectText::LoadFunction(DType dtype, int64_t count, Eviction eviction) {
  if (!is_cuda()) eviction = Eviction::kNone;
  std::string name =
      Cat("load_", ShortName(dtype), "x", count, eviction == Eviction::kNone ? "" : "_", EvictionName(eviction));
  const std::string convert = dtype == DType::kF16 || dtype == DType::kBF16 ? FromBitsFunction(dtype) : "";
  const auto bits = static_cast<int64_t>(8 * SizeOf(dtype));
  const Words words = SplitIntoWords(count * bits / 8);
  std::string text = Cat("FN void ", name, "(const GLOBAL ", StorageType(dtype), "* from, ",
                         TypeName(RegisterOf(dtype)), "* to) {\n", ReadWords(words, eviction));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t shift = i * bits % 32;
    std::string piece = WordName(words, i * bits / 32);
    if (bits == 64) piece = Cat("(unsigned long)", WordName(words, i * 2 + 1), " << 32 | ", piece);
    if (shift != 0) piece = Cat("(", piece, " >> ", shift, ")");
    if (dtype == DType::kF32) piece = Cat("AS_FLOAT(", piece, ")");
    if (dtype == DType::kI32) piece = Cat("(int)", piece);
    if (dtype == DType::kI64) piece = Cat("(i64)(", piece, ")");
    if (dtype == DType::kBool) piece = Cat("(", piece, " & 255) != 0");
    if (IsInteger(dtype)) piece = NarrowedText(dtype, piece);
    if (!convert.empty()) piece = Cat(convert, "((u16)", piece, ")");
    text += Cat("  to[", i, "] = ", piece, ";\n");
  }
  AddFunction(name, text + "}\n");
  return name;
}

std::string DialectText::PackFunction(DType dtype) {
  std::string name = Cat("pack_", ShortName(dtype));
  AddFunction(name, Cat("FN u32 ", name, "(float x, float y) {\n  u32 w;\n  asm(\"cvt.rn.", ShortName(dtype),
                        "x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(y), \"f\"(x));\n  return w;\n}\n"));
  return name;
}

std::string DialectText::StoreFunction(DType dtype, int64_t count, Eviction eviction) {
  if (!is_cuda()) eviction = Eviction::kNone;
  std::string name =
      Cat("store_", ShortName(dtype), "x", count, eviction == Eviction::kNone ? "" : "_", EvictionName(eviction));
  if (is_cuda() && count > 1 && (dtype == DType::kF16 || dtype == DType::kBF16)) {
    AddFunction(name, PackedStore(name, PackFunction(dtype), SplitIntoWords(2 * count), eviction));
    return name;
  }
  const std::string convert = dtype == DType::kF16 || dtype == DType::kBF16 ? ToBitsFunction(dtype) : "";
  const auto bits = static_cast<int64_t>(8 * SizeOf(dtype));
  const Words words = SplitIntoWords(count * bits / 8);
  std::string text = Cat("FN void ", name, "(GLOBAL ", StorageType(dtype), "* to, const ", TypeName(RegisterOf(dtype)),
                         "* from) {\n  ", words.type, " w;\n");
  std::vector<std::string> assembled(static_cast<size_t>(words.count));
  for (int64_t i = 0; i < count; ++i) {
    std::string piece = Cat("from[", i, "]");
    if (dtype == DType::kF32) piece = Cat("AS_U32(", piece, ")");
    if (dtype == DType::kI32) piece = Cat("(u32)", piece);
    if (dtype == DType::kBool) piece = Cat("(u32)(", piece, " != 0)");
    if (IsInteger(dtype) && bits < 32) piece = Cat("((u32)", piece, " & ", (1 << bits) - 1, "u)");
    if (bits == 64) {
      assembled[static_cast<size_t>(2 * i)] = Cat("(u32)", piece);
      assembled[static_cast<size_t>(2 * i + 1)] = Cat("(u32)((unsigned long)", piece, " >> 32)");
      continue;
    }
    if (!convert.empty()) piece = Cat("(u32)", convert, "(", piece, ")");
    const int64_t shift = i * bits % 32;
    if (shift != 0) piece = Cat("(", piece, " << ", shift, ")");
    std::string& word = assembled[static_cast<size_t>(i * bits / 32)];
    word += Cat(word.empty() ? "" : " | ", piece);
  }
  for (int64_t i = 0; i < words.count; ++i) {
    const std::string narrow = words.type == "u8" || words.type == "u16" ? Cat("(", words.type, ")") : "";
    text += Cat("  ", WordName(words, i), " = ", narrow, narrow.empty() ? "" : "(", assembled[static_cast<size_t>(i)],
                narrow.empty() ? "" : ")", ";\n");
  }
  AddFunction(name, Cat(text, WriteWords(words, eviction), "}\n"));
  return name;
}

std::string DialectText::Math(ir::Op op, const std::string& x) {
  using ir::Op;
  const bool fast = options_.fast_math;
  const auto call = [&](std::string_view cuda, std::string_view cuda_fast, std::string_view opencl,
                        std::string_view opencl_fast) {
    return Cat(is_cuda() ? (fast ? cuda_fast : cuda) : (fast ? opencl_fast : opencl), "(", x, ")");
  };
  switch (op) {
    case Op::kExp:
      if (!is_cuda()) return call("", "", "exp", "native_exp");
      AddFunction("exp2_f", std::string(kCudaExp2));
      AddFunction("exp_f", std::string(kCudaExp));
      return Cat("exp_f(", x, ")");
    case Op::kExp2:
      if (!is_cuda()) return call("", "", "exp2", "native_exp2");
      AddFunction("exp2_f", std::string(kCudaExp2));
      return Cat("exp2_f(", x, ")");
    case Op::kLog:
      return call("logf", "__logf", "log", "native_log");
    case Op::kLog2:
      return call("log2f", "__log2f", "log2", "native_log2");
    case Op::kSqrt:
      return call("sqrtf", "sqrtf", "sqrt", "native_sqrt");
    case Op::kRsqrt:
      return call("rsqrtf", "rsqrtf", "rsqrt", "native_rsqrt");
    case Op::kTanh:
      return call("tanhf", "tanhf", "tanh", "tanh");
    case Op::kErf:
      return call("erff", "erff", "erf", "erf");
    case Op::kSin:
      return call("sinf", "__sinf", "sin", "native_sin");
    case Op::kCos:
      return call("cosf", "__cosf", "cos", "native_cos");
    case Op::kSigmoid:
      return Divide("1.0f", Cat("1.0f + ", Math(Op::kExp, Cat("-(", x, ")"))));
    default:
      return "";
  }
}

std::string DialectText::Divide(const std::string& x, const std::string& y) {
  if (options_.fast_math) return Cat(is_cuda() ? "__fdividef(" : "native_divide(", x, ", ", y, ")");
  if (!is_cuda()) return Cat("(", x, " / (", y, "))");
  AddFunction("divide_f", std::string(kCudaDivide));
  return Cat("divide_f(", x, ", ", y, ")");
}

std::string DialectText::MaximumFunction(RegisterType register_type, bool minimum) {
  const bool is_float = text::IsFloat(register_type);
  std::string name = Cat(minimum ? "minimum_" : "maximum_", TypeLetter(register_type));
  if (is_cuda() && is_float) {
    AddFunction(name, Cat("FN float ", name, "(float x, float y) {\n  float z;\n  asm(\"", minimum ? "min" : "max",
                          ".NaN.f32 %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));\n  return z;\n}\n"));
    return name;
  }
  const std::string_view type = TypeName(register_type);
  AddFunction(name, Cat("FN ", type, " ", name, "(", type, " x, ", type, " y) { return x ", minimum ? "<" : ">", " y",
                        is_float ? " || x != x" : "", " ? x : y; }\n"));
  return name;
}

std::string DialectText::Prelude() const {
  std::string text(is_cuda() ? kCudaPrelude : kOpenClPrelude);
  for (const auto& [name, function] : functions_) text += "\n" + function;
  return text;
}

}  // namespace telemetry::worker::codegen::text
