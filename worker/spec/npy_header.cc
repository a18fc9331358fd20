#include "worker/spec/npy_header.h"

#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/python_literal.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<std::pair<std::string_view, ElementType>, 12> kNpyTypes = {{{"f8", ElementType::kF64},
                                                                                 {"f4", ElementType::kF32},
                                                                                 {"f2", ElementType::kF16},
                                                                                 {"i1", ElementType::kI8},
                                                                                 {"i2", ElementType::kI16},
                                                                                 {"i4", ElementType::kI32},
                                                                                 {"i8", ElementType::kI64},
                                                                                 {"u1", ElementType::kU8},
                                                                                 {"u2", ElementType::kU16},
                                                                                 {"u4", ElementType::kU32},
                                                                                 {"u8", ElementType::kU64},
                                                                                 {"b1", ElementType::kBool}}};

size_t ByteAt(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

absl::StatusOr<ElementType> TypeOfDescr(std::string_view descr) {
  // The first character is the byte order: | has none, = is the machine's.
  if (descr.size() == 3 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=')) {
    for (const auto& [name, type] : kNpyTypes) {
      if (descr.substr(1) == name) return type;
    }
  }
  return absl::InvalidArgumentError(record::Cat("elements of the type '", descr, "' are not supported"));
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view contents) {
  if (!contents.starts_with(kMagic) || contents.size() < 12) {
    return absl::InvalidArgumentError("not a NumPy file");
  }
  const bool is_long = contents[6] != 1;
  const size_t prefix = is_long ? 12 : 10;
  size_t length = ByteAt(contents, 8) | ByteAt(contents, 9) << 8;
  if (is_long) length |= ByteAt(contents, 10) << 16 | ByteAt(contents, 11) << 24;
  if (length > contents.size() - prefix) return absl::InvalidArgumentError("the header of the NumPy file is cut off");
  // The header is a dict of Python, padded with spaces.
  const std::string literal = record::Cat("Config(header=", contents.substr(prefix, length), ")");
  ASSIGN_OR_RETURN(const record::Json config, record::ParseConfig(literal));
  const record::Json* header = config.Find("header");
  const record::Json* descr = header->Find("descr");
  const record::Json* order = header->Find("fortran_order");
  if (descr == nullptr || descr->kind != record::Json::Kind::kString || order == nullptr) {
    return absl::InvalidArgumentError("the header of the NumPy file has no plain element type");
  }
  if (order->kind == record::Json::Kind::kTrue)
    return absl::InvalidArgumentError("arrays in Fortran order are not supported");
  ASSIGN_OR_RETURN(const ElementType type, TypeOfDescr(descr->text));
  return NpyHeader{.type = type, .data_begin = prefix + length};
}

}  // namespace telemetry::worker::spec
