#include "server/storage/tables/measurement_table.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/failure_json.h"
#include "server/storage/tables/row_key.h"
#include "server/storage/tables/text_field.h"

namespace telemetry::storage::tables {
namespace {

std::optional<double> Perf(const v1::Measurement& row) {
  return row.has_perf_ms() ? std::optional<double>(sql::AsRead(row.perf_ms())) : std::nullopt;
}

std::optional<double> CompileTime(const v1::Measurement& row) {
  return row.has_compile_time_s() ? std::optional<double>(sql::AsRead(row.compile_time_s())) : std::nullopt;
}

template <typename Number>
void AppendBytes(Number value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string ToBytes(const MeasurementTable::Contents& row) {
  std::string bytes;
  AppendBytes(row.timestamp_s, &bytes);
  AppendBytes(row.generation, &bytes);
  AppendBytes(row.status, &bytes);
  AppendBytes(row.config_id, &bytes);
  for (const std::optional<double>& value : {row.perf_ms, row.compile_time_s}) {
    bytes.push_back(value ? 1 : 0);
    AppendBytes(value.value_or(0), &bytes);
  }
  return absl::StrCat(bytes, row.failure_sha256.value_or(""));
}

OptionalText Failure(const v1::Measurement& row) {
  return row.has_failure() ? OptionalText(sql::FailureToJson(row.failure())) : std::nullopt;
}

}  // namespace

MeasurementTable::MeasurementTable(sql::Database& database, AttemptTable& attempts, ConfigTable& configs)
    : attempts_(attempts),
      configs_(configs),
      long_failures_(database),
      insert_(database,
              sql::BulkInsert{
                  .table = "measurements",
                  .columns = "attempt, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure",
                  .in_run = true,
                  .on_conflict_do_nothing = true}),
      read_(database,
            {.text = "SELECT m.timestamp_s, m.generation, m.status, m.perf_ms, m.compile_time_s, m.config, m.failure, "
                     "c.config_id FROM whole_measurements AS m LEFT JOIN configs AS c ON c.config = m.config",
             .key = sql::kInRun,
             .where = "attempt = ?1 AND seq = ?2"}),
      insert_status_(database, "INSERT INTO statuses (name) VALUES (?1) ON CONFLICT DO NOTHING RETURNING status"),
      find_status_(
          database,
          {.text = "SELECT status FROM statuses", .key = "name_sha256 = text_sha256(?1)", .where = "name = ?1"}),
      insert_hash_(database, sql::BulkInsert{.table = "source_hashes",
                                             .columns = "attempt, seq, source_hash",
                                             .in_run = true,
                                             .on_conflict_do_nothing = true}),
      read_hash_(
          database,
          {.text = "SELECT source_hash FROM source_hashes", .key = sql::kInRun, .where = "attempt = ?1 AND seq = ?2"}),
      find_names_(database, "SELECT 1 FROM configs, statuses WHERE config = ?1 AND status = ?2"),
      replace_(database,
               {.text = "UPDATE measurements SET timestamp_s = ?3, generation = ?4, status = ?5, perf_ms = ?6, "
                        "compile_time_s = ?7, config = ?8, failure = ?9",
                .key = sql::kInRun,
                .where = "attempt = ?1 AND seq = ?2"}) {}

void MeasurementTable::RememberRow(int64_t attempt, uint64_t seq, const Contents& contents) {
  known_rows_.Add(attempt, seq, ToBytes(contents));
}

void MeasurementTable::RememberHash(int64_t attempt, uint64_t seq, std::string_view source_hash) {
  known_hashes_.Add(attempt, seq, source_hash);
}

absl::Status MeasurementTable::Store(const v1::Measurement& row, MaybeRefusal& refusal) {
  absl::StatusOr<AttemptTable::RowTarget> target = attempts_.FindTarget(row.attempt_id(), refusal);
  if (!target.ok() || target->left_out()) return target.status();
  if (target->foreign) return StoreForeign(row, target->key, refusal);
  return StoreRow(row, target->key, refusal);
}

// Accepts a row for another sender's attempt only if it equals the stored one.
absl::Status MeasurementTable::StoreForeign(const v1::Measurement& row, const sql::AttemptKey& key,
                                            MaybeRefusal& refusal) {
  absl::StatusOr<bool> stored = read_.Bind(sql::InRun{key.run}, key.attempt, row.seq()).Step();
  read_.Reset();
  if (!stored.ok()) return stored.status();
  if (!*stored) {
    refusal = NotYours(kForeignAttempt);
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> status = StatusKey(row.status());
  return status.ok() ? CompareStored(row, key, RowOwner::kOtherSender, *status, /*config=*/0, refusal)
                     : status.status();
}

absl::Status MeasurementTable::StoreRow(const v1::Measurement& row, const sql::AttemptKey& key, MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(int64_t status_key, StatusKey(row.status()));
  ASSIGN_OR_RETURN(const int64_t config, configs_.FindOrInsertKey(row.config_id()));
  const OptionalText failure = Failure(row);
  if (known_rows_.is_on()) {
    const Contents contents = {.timestamp_s = sql::AsRead(row.timestamp_s()),
                               .generation = row.generation(),
                               .status = status_key,
                               .perf_ms = Perf(row),
                               .compile_time_s = CompileTime(row),
                               .config_id = row.config_id(),
                               .failure_sha256 = failure ? std::optional(record::Sha256(*failure)) : std::nullopt};
    const KnownRows::Is is = known_rows_.Add(key.attempt, row.seq(), ToBytes(contents));
    if (is == KnownRows::Is::kSame) return absl::OkStatus();
    if (is == KnownRows::Is::kOther) return CompareStored(row, key, RowOwner::kSender, status_key, config, refusal);
  }
  const absl::StatusOr<int64_t> inserted =
      insert_
          .Bind(sql::InRun{key.run}, key.attempt, row.seq(), row.timestamp_s(), int64_t{row.generation()}, status_key,
                Perf(row), CompileTime(row), config, long_failures_.InRow(failure))
          .RunCounting();
  if (!inserted.ok()) return inserted.status();
  if (*inserted == 1) return long_failures_.Store(key.attempt, row.seq(), failure);
  return CompareStored(row, key, RowOwner::kSender, status_key, config, refusal);
}

absl::StatusOr<int64_t> MeasurementTable::StatusKey(const std::string& name) {
  if (auto it = statuses_.find(name); it != statuses_.end()) return it->second;
  ASSIGN_OR_RETURN(int64_t key, KeyOfRow(find_status_.Bind(name), insert_status_.Bind(name)));
  statuses_.emplace(name, key);
  return key;
}

absl::Status MeasurementTable::CompareStored(const v1::Measurement& row, const sql::AttemptKey& key, RowOwner owner,
                                             int64_t status, int64_t config, MaybeRefusal& refusal) {
  const OptionalText failure = Failure(row);
  ASSIGN_OR_RETURN(bool found, read_.Bind(sql::InRun{key.run}, key.attempt, row.seq()).Step());
  if (!found) return absl::AbortedError("another writer removed the stored row");
  const bool equal = read_.Double(0) == sql::AsRead(row.timestamp_s()) && read_.Int(1) == row.generation() &&
                     read_.Int(2) == status && DoubleColumn(read_, 3) == Perf(row) &&
                     DoubleColumn(read_, 4) == CompileTime(row) && TextColumn(read_, 6) == failure &&
                     !read_.IsNull(7) && static_cast<uint64_t>(read_.Int(7)) == row.config_id();
  const int64_t stored_status = read_.Int(2);
  const int64_t stored_config = read_.Int(5);
  read_.Reset();
  if (equal) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<int64_t> named, find_names_.Bind(stored_config, stored_status).QueryInt());
  if (named.has_value() || owner == RowOwner::kOtherSender) {
    refusal = Conflict("another row is stored under this attempt_id and seq");
    return absl::OkStatus();
  }
  // The stored row references a config or status that was never committed: it remains from a transaction that only some
  // of the servers of a distributed dataset committed (deploy/fleet/README.md). The producer now sends the row again.
  const absl::Status replaced =
      replace_
          .Bind(sql::InRun{key.run}, key.attempt, row.seq(), row.timestamp_s(), int64_t{row.generation()}, status,
                Perf(row), CompileTime(row), config, long_failures_.InRow(failure))
          .Run();
  return replaced.ok() ? long_failures_.Store(key.attempt, row.seq(), failure) : replaced;
}

absl::Status MeasurementTable::Store(const v1::SourceHash& hash, MaybeRefusal& refusal) {
  absl::StatusOr<AttemptTable::RowTarget> target = attempts_.FindTarget(hash.attempt_id(), refusal);
  if (!target.ok() || target->left_out()) return target.status();
  ASSIGN_OR_RETURN(std::string bytes, record::HexDecode(hash.source_hash()));  // cannot fail: Validate() has checked it
  const KnownRows::Is is = known_hashes_.is_on() && !target->foreign
                               ? known_hashes_.Add(target->key.attempt, hash.seq(), bytes)
                               : KnownRows::Is::kNew;
  if (is == KnownRows::Is::kSame) return absl::OkStatus();
  if (is == KnownRows::Is::kNew && !target->foreign) {
    const absl::StatusOr<int64_t> inserted =
        insert_hash_.Bind(sql::InRun{target->key.run}, target->key.attempt, hash.seq(), sql::Blob{bytes}).RunCounting();
    if (!inserted.ok() || *inserted == 1) return inserted.status();
  }
  ASSIGN_OR_RETURN(bool found, read_hash_.Bind(sql::InRun{target->key.run}, target->key.attempt, hash.seq()).Step());
  if (!found) {
    refusal = NotYours(kForeignAttempt);
    return absl::OkStatus();
  }
  if (read_hash_.Bytes(0) != bytes) refusal = Conflict("another hash is stored for this attempt_id and seq");
  read_hash_.Reset();
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
