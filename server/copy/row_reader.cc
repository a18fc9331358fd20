#include "server/copy/row_reader.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement_text.h"

namespace telemetry::copy {
namespace {

using storage::sql::InRun;
using storage::sql::Statement;

constexpr int64_t kOwnersAtOnce = 10000;

Statement SelectRows(storage::sql::Database& database, const DatasetTable& table) {
  const std::string select = absl::StrCat("SELECT ", table.ColumnNames(), " FROM ", table.source);
  const std::string order = absl::StrCat(" ORDER BY ", table.key, table.has_integer_key ? " LIMIT ?3" : "");
  std::string where;
  if (table.owner != Owner::kNone) where = absl::StrCat(table.owner_column, " = ?1");
  if (table.has_integer_key) absl::StrAppend(&where, where.empty() ? "" : " AND ", table.key, " > ?2");
  if (where.empty()) return Statement(database, absl::StrCat(select, order).c_str());
  absl::StrAppend(&where, order);
  return Statement(
      database,
      {.text = select.c_str(), .key = table.HasRunBesides() ? storage::sql::kInRun : nullptr, .where = where.c_str()});
}

const char* SelectOwners(Owner owner) {
  switch (owner) {
    case Owner::kRun:
      return "SELECT run, run FROM runs WHERE run >= ?1 ORDER BY run LIMIT ?2";
    case Owner::kAttempt:
      return "SELECT attempt, run FROM attempts WHERE attempt >= ?1 ORDER BY attempt LIMIT ?2";
    case Owner::kIrGraph:
      return "SELECT ir_graph, run FROM ir_graphs WHERE ir_graph >= ?1 ORDER BY ir_graph LIMIT ?2";
    case Owner::kNone:
      break;
  }
  return nullptr;
}

}  // namespace

RowReader::RowReader(storage::sql::Database& database, const DatasetTable& table, RowPlace from)
    : table_(table), rows_(SelectRows(database, table)), place_(from) {
  if (const char* const sql = SelectOwners(table.owner)) owner_keys_ = std::make_unique<Statement>(database, sql);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == table.key) key_column_ = static_cast<int>(i);
  }
}

absl::StatusOr<bool> RowReader::Step() {
  while (true) {
    if (!page_open_) {
      absl::StatusOr<bool> page = NextPage();
      if (!page.ok() || !*page) return page;
    }
    ASSIGN_OR_RETURN(bool row, rows_.Step());
    if (row) {
      const bool first_of_all_at_once = !table_.has_integer_key && page_rows_ == 0;
      before_ = table_.has_integer_key || first_of_all_at_once ? std::optional(place_) : std::nullopt;
      if (table_.has_integer_key) place_.after = rows_.Int(key_column_);
      ++page_rows_;
      return true;
    }
    page_open_ = false;
  }
}

absl::StatusOr<bool> RowReader::NextPage() {
  // A full page may be followed by others.
  const bool same_owner = table_.has_integer_key && page_rows_ == table_.rows_at_once;
  const bool first = page_rows_ < 0;
  if (owner_keys_ != nullptr && !same_owner) {
    absl::StatusOr<bool> owner = NextOwner();
    if (!owner.ok() || !*owner) return owner;
  } else if (!same_owner && !first) {
    return false;
  }
  BindRows();
  page_open_ = true;
  page_rows_ = 0;
  return true;
}

absl::StatusOr<bool> RowReader::NextOwner() {
  if (!owners_.empty()) ++owner_;
  if (owner_ == owners_.size()) {
    const int64_t from = owners_.empty() ? place_.owner : owners_.back().key + 1;
    owners_.clear();
    owner_ = 0;
    owner_keys_->Bind(from, kOwnersAtOnce);
    while (true) {
      ASSIGN_OR_RETURN(bool row, owner_keys_->Step());
      if (!row) break;
      owners_.push_back({.key = owner_keys_->Int(0), .run = owner_keys_->Int(1)});
    }
    if (owners_.empty()) return false;
  }
  if (owners_[owner_].key != place_.owner) place_ = {.owner = owners_[owner_].key};
  return true;
}

void RowReader::BindRows() {
  const int64_t rows = table_.rows_at_once;
  if (table_.HasRunBesides()) {
    rows_.Bind(InRun{run()}, place_.owner, place_.after, rows);
  } else if (table_.has_integer_key) {
    rows_.Bind(place_.owner, place_.after, rows);
  } else if (table_.owner != Owner::kNone) {
    rows_.Bind(place_.owner);
  } else {
    rows_.Reset();
  }
}

}  // namespace telemetry::copy
