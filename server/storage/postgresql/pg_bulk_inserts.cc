#include "server/storage/postgresql/pg_bulk_inserts.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::storage::postgresql {
namespace {

// COPY's binary format has a signature, no flags and no header extension before the rows, and a row of -1 columns after
// them.
constexpr std::string_view kHeader("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
constexpr std::string_view kTrailer("\377\377", 2);
// A COPY costs the server about 50 us in addition to its rows. This many bytes are a thousand rows or more.
constexpr size_t kSentAt = 128 << 10;

}  // namespace

void PgBulkInserts::Begin(bool is_on) {
  is_on_ = is_on;
  has_failed_ = false;
  is_copying_ = false;
  for (const auto& rows : tables_) rows->bytes.clear();
}

PgBulkRows* PgBulkInserts::FindRowBuffer(PgCopy copy) {
  const auto known =
      std::find_if(tables_.begin(), tables_.end(), [&](const auto& rows) { return rows->copy.text == copy.text; });
  if (known != tables_.end()) return known->get();
  return tables_.emplace_back(new PgBulkRows{.copy = std::move(copy), .bytes = {}}).get();
}

absl::Status PgBulkInserts::Added(PgBulkRows& rows) {
  return rows.bytes.size() < kSentAt ? absl::OkStatus() : Send(rows);
}

absl::Status PgBulkInserts::FlushFor(std::string_view sql) {
  for (const auto& rows : tables_) {
    if (rows->bytes.empty() || sql.find(rows->copy.table) == std::string_view::npos) continue;
    RETURN_IF_ERROR(Send(*rows));
  }
  return FinishCopy();
}

absl::Status PgBulkInserts::FlushAll() {
  for (const auto& rows : tables_) {
    if (rows->bytes.empty()) continue;
    RETURN_IF_ERROR(Send(*rows));
  }
  return FinishCopy();
}

absl::Status PgBulkInserts::FinishCopy() {
  if (!is_copying_) return absl::OkStatus();
  is_copying_ = false;
  PGconn* const handle = connection_.handle();
  const absl::StatusOr<PgResult> result = connection_.Check(PQgetResult(handle));
  while (connection_.alive() && PgResult(PQgetResult(handle)) != nullptr) {
  }
  has_failed_ = absl::IsAborted(result.status());
  return result.status();
}

absl::Status PgBulkInserts::Send(PgBulkRows& rows) {
  RETURN_IF_ERROR(FinishCopy());
  RETURN_IF_ERROR(connection_.Execute(rows.copy.text.c_str()).status());
  PGconn* const handle = connection_.handle();
  bool is_sent = true;
  for (const std::string_view part : {kHeader, std::string_view(rows.bytes), kTrailer}) {
    is_sent = is_sent && PQputCopyData(handle, part.data(), static_cast<int>(part.size())) == 1;
  }
  rows.bytes.clear();
  // Without the end of the COPY the server would not respond. Only a lost connection refuses it.
  if (!is_sent || PQputCopyEnd(handle, nullptr) != 1) return connection_.Check(nullptr).status();
  is_copying_ = true;
  return absl::OkStatus();
}

}  // namespace telemetry::storage::postgresql
