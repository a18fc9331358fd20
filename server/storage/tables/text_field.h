#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::tables {

// A text field that may be unset: a view into a message, or a copy of a column.
using OptionalView = std::optional<std::string_view>;
using OptionalText = std::optional<std::string>;

// Returns the field NAME of a message with field presence as an OptionalView.
#define TELEMETRY_OPTIONAL(message, name) \
  ((message).has_##name() ? ::telemetry::storage::tables::OptionalView((message).name()) : std::nullopt)

// Return a column of the current row of a Statement or PreparedStatement; nullopt: NULL.
template <typename Row>
OptionalText TextColumn(const Row& row, int column) {
  return row.IsNull(column) ? std::nullopt : OptionalText(row.Text(column));
}

template <typename Row>
std::optional<double> DoubleColumn(const Row& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<double>(row.Double(column));
}

inline OptionalText BytesColumn(const sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : OptionalText(row.Bytes(column));
}

inline std::optional<int64_t> IntColumn(const sql::Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<int64_t>(row.Int(column));
}

// Returns the value, or nullopt if `has` is false.
template <typename Value>
std::optional<Value> Optional(bool has, Value value) {
  return has ? std::optional<Value>(value) : std::nullopt;
}

// Merges the fields of one record into the stored ones. An unset or equal field changes nothing, a field that was unset
// so far is filled in, and a different value makes the record a conflict.
class FieldMerge {
 public:
  template <typename Stored, typename Sent>
  void Field(const char* name, std::optional<Stored>& stored, const std::optional<Sent>& sent) {
    if (!sent || conflict_) return;
    if (!stored) {
      stored.emplace(*sent);
      changed_ = true;
    } else if (*stored != *sent) {
      conflict_ = Conflict(absl::StrCat(name, " differs from what is stored"));
    }
  }

  // Compares a field that is always set.
  template <typename Stored, typename Sent>
  void Required(const char* name, const Stored& stored, const Sent& sent) {
    if (!conflict_ && stored != sent) conflict_ = Conflict(absl::StrCat(name, " differs from what is stored"));
  }

  void set_changed() { changed_ = true; }

  bool changed() const { return changed_; }
  MaybeRefusal& conflict() { return conflict_; }

 private:
  bool changed_ = false;
  MaybeRefusal conflict_;
};

}  // namespace telemetry::storage::tables
