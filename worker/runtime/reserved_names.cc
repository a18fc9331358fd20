#include "worker/runtime/reserved_names.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {
namespace {

constexpr size_t kMostCharacters = 64;

// Each name is between spaces.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this throw true try typedef typeid typename union "
    "unsigned "
    "using virtual void volatile wchar_t while xor xor_eq ";
constexpr std::string_view kTypes =
    " NULL int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t size_t uchar "
    "uint ulong ushort half quad complex imaginary event_t sampler_t image2d_t dim3 float2 float4 int2 int4 uint2 "
    "uint4 "
    "half2 bfloat16 ";
constexpr std::string_view kOpenClAndCuda =
    " barrier constant generic global kernel local pipe printf read_only read_write uniform vec_step write_only shared "
    "blockDim blockIdx clusterDim gridDim threadIdx warpSize ";

bool Holds(std::string_view names, std::string_view name) {
  return names.find(record::Cat(" ", name, " ")) != std::string_view::npos;
}

bool IsIdentifier(std::string_view name) {
  const auto is_part = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_part);
}

}  // namespace

bool IsReservedName(std::string_view name) {
  // Names of the compilers and of the generator begin with an underscore and a capital letter, or contain two
  // underscores.
  const bool is_compilers =
      name.size() > 1 && name[0] == '_' && (name[1] == '_' || absl::ascii_isupper(static_cast<unsigned char>(name[1])));
  return is_compilers || name.find("__") != std::string_view::npos || Holds(kKeywords, name) || Holds(kTypes, name) ||
         Holds(kOpenClAndCuda, name);
}

absl::Status CheckName(std::string_view what, std::string_view name) {
  if (!IsIdentifier(name)) {
    return absl::InvalidArgumentError(record::Cat(what, " has the name '", name, "', which is not an identifier"));
  }
  if (name.size() > kMostCharacters) {
    return absl::InvalidArgumentError(
        record::Cat(what, " has a name of ", name.size(), " characters; at most ", kMostCharacters, " are allowed"));
  }
  if (IsReservedName(name)) {
    return absl::InvalidArgumentError(
        record::Cat(what, " has the name '", name, "', which is reserved for generated code; choose another"));
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::runtime
