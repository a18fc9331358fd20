#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::readers {

// A query of rows by an integer key that reads many rows with one statement, since each statement on a PostgreSQL
// server costs a round trip. Part of a reader: used by one thread.
class KeyLookup {
 public:
  // A row has at most some 64 KiB, so that the result stays below 8 MiB.
  static constexpr size_t kKeysAtOnce = 128;

  // `where` is the condition on the table and on the key, `k.column1`, with the parameters ?1 to ?`parameters`. Keys
  // are not 0. `database` must outlive this object.
  KeyLookup(sql::Database& database, const char* columns, const char* table, const char* where, int parameters);

  // Calls `use` for each row with one of `keys`, at most kKeysAtOnce, in any order. `values` are the values of ?1, ...
  absl::Status Read(absl::Span<const int64_t> values, absl::Span<const int64_t> keys,
                    absl::FunctionRef<absl::Status(const sql::Statement&)> use);

 private:
  const int parameters_;
  sql::Statement query_;
};

}  // namespace telemetry::storage::readers
