#include "server/storage/postgresql/pg_array.h"

#include "server/storage/postgresql/pg_integer.h"
#include "server/storage/postgresql/pg_types.h"

namespace telemetry::storage::postgresql {
namespace {

// Header before the elements: number of dimensions, NULL flag, element type, number of elements, index of the first
// element.
constexpr size_t kHasNullAt = 4;
constexpr size_t kSizeAt = 12;

constexpr uint32_t kNull = ~uint32_t{0};

}  // namespace

PgArray PgArray::OfIntegers() { return {kPgInt8Array, kPgInt8}; }
PgArray PgArray::OfTexts() { return {kPgTextArray, kPgText}; }
PgArray PgArray::OfBytes() { return {kPgBytesArray, kPgBytes}; }

PgArray::PgArray(Oid type, Oid element_type) : type_(type) {
  for (const uint32_t field : {uint32_t{1}, uint32_t{0}, uint32_t{element_type}, uint32_t{0}, uint32_t{1}}) {
    AppendPgInteger(field, &bytes_);
  }
}

void PgArray::Add(int64_t value) {
  CountOne();
  AppendPgInteger(uint32_t{sizeof(value)}, &bytes_);
  AppendPgInteger(static_cast<uint64_t>(value), &bytes_);
}

void PgArray::Add(std::optional<std::string_view> value) {
  CountOne();
  AppendPgInteger(value ? static_cast<uint32_t>(value->size()) : kNull, &bytes_);
  if (value) {
    bytes_.append(*value);
  } else {
    bytes_[kHasNullAt + 3] = 1;
  }
}

void PgArray::CountOne() {
  ++size_;
  std::string size;
  AppendPgInteger(size_, &size);
  bytes_.replace(kSizeAt, size.size(), size);
}

}  // namespace telemetry::storage::postgresql
