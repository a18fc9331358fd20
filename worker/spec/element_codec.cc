#include "worker/spec/element_codec.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"
#include "worker/spec/arithmetic.h"

namespace telemetry::worker::spec {
namespace {

template <typename T>
void Store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
double Fetch(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

template <typename T>
absl::Status StoreInteger(int64_t value, ElementType type, std::byte* to) {
  if (!std::in_range<T>(value)) {
    return absl::InvalidArgumentError(record::Cat(value, " is not a value of the type ", ShortName(type)));
  }
  Store(static_cast<T>(value), to);
  return absl::OkStatus();
}

absl::Status EncodeInteger(ElementType type, int64_t value, std::byte* to) {
  switch (type) {
    case ElementType::kI8:
      return StoreInteger<int8_t>(value, type, to);
    case ElementType::kI16:
      return StoreInteger<int16_t>(value, type, to);
    case ElementType::kI32:
      return StoreInteger<int32_t>(value, type, to);
    case ElementType::kU8:
      return StoreInteger<uint8_t>(value, type, to);
    case ElementType::kU16:
      return StoreInteger<uint16_t>(value, type, to);
    case ElementType::kU32:
      return StoreInteger<uint32_t>(value, type, to);
    case ElementType::kU64:
      return StoreInteger<uint64_t>(value, type, to);
    case ElementType::kBool:
      Store(static_cast<uint8_t>(value != 0), to);
      return absl::OkStatus();
    default:
      Store(value, to);
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status EncodeElement(ElementType type, const Value& number, std::byte* to) {
  switch (type) {
    case ElementType::kF64:
      Store(number.real(), to);
      return absl::OkStatus();
    case ElementType::kF32:
      Store(static_cast<float>(number.real()), to);
      return absl::OkStatus();
    case ElementType::kF16:
      Store(ir::EncodeF16(number.real()), to);
      return absl::OkStatus();
    case ElementType::kBF16:
      Store(ir::EncodeBF16(number.real()), to);
      return absl::OkStatus();
    default:
      break;
  }
  if (number.is_whole()) return EncodeInteger(type, number.integer(), to);
  ASSIGN_OR_RETURN(const Value integer, ToInteger(number.real()));
  return EncodeInteger(type, integer.integer(), to);
}

double DecodeElement(ElementType type, const std::byte* from) {
  switch (type) {
    case ElementType::kF64:
      return Fetch<double>(from);
    case ElementType::kF32:
      return Fetch<float>(from);
    case ElementType::kF16:
      return ir::DecodeF16(static_cast<uint16_t>(Fetch<uint16_t>(from)));
    case ElementType::kBF16:
      return ir::DecodeBF16(static_cast<uint16_t>(Fetch<uint16_t>(from)));
    case ElementType::kI8:
      return Fetch<int8_t>(from);
    case ElementType::kI16:
      return Fetch<int16_t>(from);
    case ElementType::kI32:
      return Fetch<int32_t>(from);
    case ElementType::kI64:
      return Fetch<int64_t>(from);
    case ElementType::kU16:
      return Fetch<uint16_t>(from);
    case ElementType::kU32:
      return Fetch<uint32_t>(from);
    case ElementType::kU64:
      return Fetch<uint64_t>(from);
    case ElementType::kU8:
    case ElementType::kBool:
      break;
  }
  return Fetch<uint8_t>(from);
}

}  // namespace telemetry::worker::spec
