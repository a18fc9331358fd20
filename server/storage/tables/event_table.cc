#include "server/storage/tables/event_table.h"

#include <optional>

#include "proto/base/status_macros.h"
#include "server/storage/tables/text_field.h"

namespace telemetry::storage::tables {
namespace {

std::optional<int64_t> Time(const v1::AttemptEvent& event) {
  return event.has_time_unix_us() ? std::optional<int64_t>(event.time_unix_us()) : std::nullopt;
}

}  // namespace

EventTable::EventTable(sql::Database& database, AttemptTable& attempts)
    : attempts_(attempts),
      insert_(database, sql::BulkInsert{.table = "attempt_events",
                                        .columns = "attempt, seq, time_unix_us, name, text",
                                        .in_run = true,
                                        .on_conflict_do_nothing = true}),
      read_(database, {.text = "SELECT time_unix_us, name, text FROM attempt_events",
                       .key = sql::kInRun,
                       .where = "attempt = ?1 AND seq = ?2"}) {}

absl::Status EventTable::Store(const v1::AttemptEvent& event, MaybeRefusal& refusal) {
  absl::StatusOr<AttemptTable::RowTarget> target = attempts_.FindTarget(event.attempt_id(), refusal);
  if (!target.ok() || target->left_out()) return target.status();
  if (target->foreign) return CompareStored(event, target->key, refusal);
  if (known_.is_on()) {
    const KnownRows::Is is = known_.Add(target->key.attempt, event.seq(), event.SerializeAsString());
    if (is == KnownRows::Is::kSame) return absl::OkStatus();
    if (is == KnownRows::Is::kOther) return CompareStored(event, target->key, refusal);
  }
  const absl::StatusOr<int64_t> inserted =
      insert_
          .Bind(sql::InRun{target->key.run}, target->key.attempt, event.seq(), Time(event), event.name(), event.text())
          .RunCounting();
  if (!inserted.ok() || *inserted == 1) return inserted.status();
  return CompareStored(event, target->key, refusal);
}

absl::Status EventTable::CompareStored(const v1::AttemptEvent& event, const sql::AttemptKey& key,
                                       MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(sql::InRun{key.run}, key.attempt, event.seq()).Step());
  if (!found) {
    refusal = NotYours(kForeignAttempt);
    return absl::OkStatus();
  }
  const bool equal =
      IntColumn(read_, 0) == Time(event) && read_.Text(1) == event.name() && read_.Text(2) == event.text();
  read_.Reset();
  if (!equal) refusal = Conflict("another event is stored for this attempt_id and seq");
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
