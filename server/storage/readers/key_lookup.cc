#include "server/storage/readers/key_lookup.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::storage::readers {
namespace {

std::string WithKeys(const char* sql, const char* key, int parameters) {
  std::string text = absl::StrCat(sql, key, " IN (");
  for (size_t i = 1; i <= KeyLookup::kKeysAtOnce; ++i) absl::StrAppend(&text, i == 1 ? "?" : ", ?", parameters + i);
  return text + ")";
}

}  // namespace

KeyLookup::KeyLookup(sql::Database& database, const char* sql, const char* key, int parameters)
    : parameters_(parameters), query_(database, WithKeys(sql, key, parameters).c_str()) {}

absl::Status KeyLookup::Read(absl::Span<const int64_t> values, absl::Span<const int64_t> keys,
                             absl::FunctionRef<absl::Status(const sql::Statement&)> use) {
  if (keys.empty()) return absl::OkStatus();
  std::array<int64_t, kKeysAtOnce> all;
  all.fill(keys.back());
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
