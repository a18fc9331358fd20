#include "server/storage/postgresql/pg_gathering.h"

#include <algorithm>
#include <utility>

namespace telemetry::storage {
namespace {

// Around the rows: a signature, no flags, no further header; and a row of -1 columns.
constexpr std::string_view kHeader("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
constexpr std::string_view kTrailer("\377\377", 2);

}  // namespace

void PgGathering::Begin(bool is_on) {
  is_on_ = is_on;
  has_failed_ = false;
  for (const auto& rows : tables_) rows->bytes.clear();
}

PgGatheredRows* PgGathering::RowsOf(PgCopy copy) {
  const auto known =
      std::find_if(tables_.begin(), tables_.end(), [&](const auto& rows) { return rows->copy.text == copy.text; });
  if (known != tables_.end()) return known->get();
  return tables_.emplace_back(new PgGatheredRows{.copy = std::move(copy), .bytes = {}}).get();
}

absl::Status PgGathering::FlushFor(std::string_view sql) {
  for (const auto& rows : tables_) {
    if (rows->bytes.empty() || sql.find(rows->copy.table) == std::string_view::npos) continue;
    if (absl::Status status = Flush(*rows); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PgGathering::FlushAll() {
  for (const auto& rows : tables_) {
    if (absl::Status status = Flush(*rows); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PgGathering::Flush(PgGatheredRows& rows) {
  if (rows.bytes.empty()) return absl::OkStatus();
  absl::StatusOr<PgResult> result = connection_.Execute(rows.copy.text.c_str());
  if (!result.ok()) return result.status();
  PGconn* const handle = connection_.handle();
  bool is_sent = true;
  for (const std::string_view part : {kHeader, std::string_view(rows.bytes), kTrailer}) {
    is_sent = is_sent && PQputCopyData(handle, part.data(), static_cast<int>(part.size())) == 1;
  }
  rows.bytes.clear();
  // Without its end the server would say nothing; only a connection that was lost does not take it.
  if (!is_sent || PQputCopyEnd(handle, nullptr) != 1) return connection_.Check(nullptr).status();
  result = connection_.Check(PQgetResult(handle));
  while (connection_.alive() && PgResult(PQgetResult(handle)) != nullptr) {
  }
  has_failed_ = absl::IsAborted(result.status());
  return result.status();
}

}  // namespace telemetry::storage
