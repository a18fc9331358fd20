#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telemetry::storage::postgresql {

// An array that is bound as one parameter of a statement: a column of values, all of one type.
class PgArray {
 public:
  static PgArray OfIntegers();
  static PgArray OfTexts();
  static PgArray OfBytes();

  void Add(int64_t value);
  // nullopt: NULL
  void Add(std::optional<std::string_view> value);

  bool empty() const { return size_ == 0; }
  // The type and the value to bind. The statement keeps the view until it is reset.
  Oid type() const { return type_; }
  std::string_view bytes() const { return bytes_; }

 private:
  PgArray(Oid type, Oid element_type);
  void CountOne();

  Oid type_;
  uint32_t size_ = 0;
  std::string bytes_;  // in PostgreSQL's binary format
};

}  // namespace telemetry::storage::postgresql
