#include "server/storage/readers/key_lookup.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::readers {
namespace {

// Both databases look up one key after the other. With IN, PostgreSQL prefers to read all rows of a run.
std::string WithKeys(const char* columns, const char* table, const char* where, int parameters) {
  std::string keys;
  for (size_t i = 1; i <= KeyLookup::kKeysAtOnce; ++i) {
    absl::StrAppend(&keys, i == 1 ? "" : ", ", "(?", parameters + i, ")");
  }
  return absl::StrCat("SELECT ", columns, " FROM (VALUES ", keys, ") AS k CROSS JOIN ", table, " WHERE ", where);
}

}  // namespace

KeyLookup::KeyLookup(sql::Database& database, const char* columns, const char* table, const char* where, int parameters)
    : parameters_(parameters), query_(database, WithKeys(columns, table, where, parameters).c_str()) {}

absl::Status KeyLookup::Read(absl::Span<const int64_t> values, absl::Span<const int64_t> keys,
                             absl::FunctionRef<absl::Status(const sql::Statement&)> use) {
  if (keys.empty()) return absl::OkStatus();
  std::array<int64_t, kKeysAtOnce> all = {};  // no row has the key 0
  std::copy(keys.begin(), keys.end(), all.begin());
  query_.BindAll(1, values).BindAll(parameters_ + 1, all);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query_.Step());
    if (!row) return absl::OkStatus();
    if (absl::Status status = use(query_); !status.ok()) {
      query_.Reset();
      return status;
    }
  }
}

}  // namespace telemetry::storage::readers
