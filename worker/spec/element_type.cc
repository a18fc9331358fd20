#include "worker/spec/element_type.h"

#include <array>
#include <string>

#include "absl/status/status.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

struct TypeNames {
  ElementType type;
  size_t bytes;
  std::string_view short_name;
  std::string_view torch_name;
  std::string_view t1_name;
  std::string_view c_name;
};

// In the order of the enumeration.
constexpr std::array<TypeNames, 13> kTypes = {{
    {ElementType::kF64, 8, "f64", "torch.float64", "double", "double"},
    {ElementType::kF32, 4, "f32", "torch.float32", "float", "float32"},
    {ElementType::kF16, 2, "f16", "torch.float16", "half", "__half"},
    {ElementType::kBF16, 2, "bf16", "torch.bfloat16", "bfloat16", "__nv_bfloat16"},
    {ElementType::kI8, 1, "i8", "torch.int8", "int8", "char"},
    {ElementType::kI16, 2, "i16", "torch.int16", "int16", "short"},
    {ElementType::kI32, 4, "i32", "torch.int32", "int32", "int"},
    {ElementType::kI64, 8, "i64", "torch.int64", "int64", "long"},
    {ElementType::kU8, 1, "u8", "torch.uint8", "uint8", "unsigned char"},
    {ElementType::kU16, 2, "u16", "torch.uint16", "uint16", "unsigned short"},
    {ElementType::kU32, 4, "u32", "torch.uint32", "uint32", "unsigned int"},
    {ElementType::kU64, 8, "u64", "torch.uint64", "uint64", "unsigned long"},
    {ElementType::kBool, 1, "bool", "torch.bool", "bool", "_Bool"},
}};

const TypeNames& NamesOf(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

bool IsLaneCount(int64_t lanes) { return lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16; }

}  // namespace

size_t SizeOf(ElementType type) { return NamesOf(type).bytes; }

bool IsFloat(ElementType type) { return type <= ElementType::kBF16; }

bool IsSigned(ElementType type) { return type <= ElementType::kI64; }

std::string_view ShortName(ElementType type) { return NamesOf(type).short_name; }

std::string_view TorchName(ElementType type) { return NamesOf(type).torch_name; }

std::string T1Name(const ArgumentType& type) {
  return type.lanes == 1 ? std::string(NamesOf(type.element).t1_name)
                         : record::Cat(NamesOf(type.element).t1_name, type.lanes);
}

absl::StatusOr<ArgumentType> ParseArgumentType(std::string_view text) {
  for (const TypeNames& names : kTypes) {
    if (text == names.short_name || text == names.t1_name || text == names.c_name) return ArgumentType{names.type, 1};
    const bool has_lanes = names.type <= ElementType::kF16 && text.starts_with(names.t1_name);
    if (!has_lanes) continue;
    // float16 is a vector of 16 floats in T1; the type of 16 bits is `half`.
    const auto lanes = record::ParseInt64(text.substr(names.t1_name.size()));
    if (lanes && IsLaneCount(*lanes)) return ArgumentType{names.type, static_cast<int>(*lanes)};
  }
  std::string known;
  for (const TypeNames& names : kTypes) known += record::Cat(known.empty() ? "" : ", ", names.t1_name);
  return absl::InvalidArgumentError(
      record::Cat("unknown type '", text, "'; known are ", known, ", and vectors such as float4"));
}

}  // namespace telemetry::worker::spec
