#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/attempt_table.h"
#include "server/storage/tables/known_rows.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The table attempt_events. Part of the writer: used by one thread, inside the writer's transaction.
class EventTable {
 public:
  // `attempts` must outlive this object.
  EventTable(sql::Database& database, AttemptTable& attempts);

  absl::Status Store(const v1::AttemptEvent& event, MaybeRefusal& refusal);

  // Methods for a Prefetcher; see those of MeasurementTable.
  void BeginKnownRows(bool is_on) { known_.Begin(is_on); }
  void RememberRow(int64_t attempt, uint64_t seq) { known_.Remember(attempt, seq); }

 private:
  absl::Status CompareStored(const v1::AttemptEvent& event, const sql::AttemptKey& key, MaybeRefusal& refusal);

  AttemptTable& attempts_;
  KnownRows known_;
  sql::Statement insert_;
  sql::Statement read_;
};

}  // namespace telemetry::storage::tables
