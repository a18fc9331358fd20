#include "server/storage/measurement_reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/storage/failure_json.h"
#include "server/storage/partitions.h"

namespace telemetry::storage {
namespace {

// Statuses have keys from 1; these stand for all of them, and for one that no row has.
constexpr int64_t kAnyStatus = 0;
constexpr int64_t kNoStatus = -1;

}  // namespace

MeasurementReader::MeasurementReader(Database& database, ConfigReader& configs)
    : configs_(configs),
      read_page_(database,
                 "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure "
                 "FROM measurements WHERE " TELEMETRY_IN_RUN
                 "attempt = ?1 AND seq > ?2 AND (?3 = 0 OR status = ?3) ORDER BY seq LIMIT ?4"),
      read_hashes_(database, "SELECT seq, source_hash FROM source_hashes WHERE " TELEMETRY_IN_RUN
                             "attempt = ?1 AND seq BETWEEN ?2 AND ?3 "
                             "ORDER BY seq"),
      has_hashes_(database, "SELECT EXISTS (SELECT 1 FROM source_hashes WHERE " TELEMETRY_IN_RUN "attempt = ?1)"),
      count_(database, "SELECT count(*) FROM measurements WHERE " TELEMETRY_IN_RUN "attempt = ?1"),
      read_stats_(database, "SELECT config, status, perf_ms FROM measurements WHERE " TELEMETRY_IN_RUN
                            "attempt = ?1 ORDER BY seq"),
      status_key_(database, "SELECT status FROM statuses WHERE name = ?1"),
      status_name_(database, "SELECT name FROM statuses WHERE status = ?1") {}

absl::Status MeasurementReader::ReadPage(const AttemptKey& key, uint64_t after_seq, int64_t limit,
                                         const std::string& status,
                                         google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                                         v1::ExportConfigs* announced) {
  absl::StatusOr<int64_t> status_key = status.empty() ? kAnyStatus : StatusKey(status);
  if (!status_key.ok()) return status_key.status();
  // SQLite's integers end where sequence numbers do: nothing is behind.
  if (after_seq > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return absl::OkStatus();
  read_page_.Bind(InRun{key.run}, key.attempt, after_seq, *status_key, limit);
  while (true) {
    absl::StatusOr<bool> found = read_page_.Step();
    if (!found.ok() || !*found) return found.status();
    if (absl::Status filled = Fill(rows->Add(), announced); !filled.ok()) return filled;
  }
}

absl::Status MeasurementReader::Fill(v1::Measurement* row, v1::ExportConfigs* announced) {
  row->set_seq(static_cast<uint64_t>(read_page_.Int(0)));
  row->set_timestamp_s(read_page_.Double(1));
  row->set_generation(read_page_.Int(2));
  absl::StatusOr<const std::string*> status = StatusName(read_page_.Int(3));
  if (!status.ok()) return status.status();
  row->set_status(**status);
  if (!read_page_.IsNull(4)) row->set_perf_ms(read_page_.Double(4));
  if (!read_page_.IsNull(5)) row->set_compile_time_s(read_page_.Double(5));
  absl::StatusOr<uint64_t> config = configs_.Id(read_page_.Int(6), announced);
  if (!config.ok()) return config.status();
  row->set_config_id(*config);
  if (!read_page_.IsNull(7)) FailureFromJson(read_page_.Text(7), row->mutable_failure());
  return absl::OkStatus();
}

absl::Status MeasurementReader::ReadHashes(const AttemptKey& key,
                                           const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                                           google::protobuf::RepeatedPtrField<v1::SourceHash>* hashes) {
  if (rows.empty()) return absl::OkStatus();
  read_hashes_.Bind(InRun{key.run}, key.attempt, rows.begin()->seq(), rows.rbegin()->seq());
  auto row = rows.begin();
  while (true) {
    absl::StatusOr<bool> found = read_hashes_.Step();
    if (!found.ok() || !*found) return found.status();
    const auto seq = static_cast<uint64_t>(read_hashes_.Int(0));
    while (row->seq() < seq) ++row;
    if (row->seq() != seq) continue;  // its row is not on this page
    v1::SourceHash* hash = hashes->Add();
    hash->set_seq(seq);
    hash->set_source_hash(record::HexEncode(read_hashes_.Bytes(1)));
  }
}

absl::StatusOr<bool> MeasurementReader::HasHashes(const AttemptKey& key) {
  absl::StatusOr<bool> found = has_hashes_.Bind(InRun{key.run}, key.attempt).Step();
  if (!found.ok()) return found.status();
  const bool has = has_hashes_.Int(0) != 0;
  has_hashes_.Reset();
  return has;
}

absl::StatusOr<uint64_t> MeasurementReader::Count(const AttemptKey& key) {
  absl::StatusOr<bool> found = count_.Bind(InRun{key.run}, key.attempt).Step();
  if (!found.ok()) return found.status();
  const auto count = static_cast<uint64_t>(count_.Int(0));
  count_.Reset();
  return count;
}

absl::Status MeasurementReader::Add(const AttemptKey& key, RowStats* stats, std::optional<double>* best_perf_ms) {
  absl::StatusOr<int64_t> ok_status = StatusKey("ok");
  if (!ok_status.ok()) return ok_status.status();
  read_stats_.Bind(InRun{key.run}, key.attempt);
  while (true) {
    absl::StatusOr<bool> found = read_stats_.Step();
    if (!found.ok() || !*found) return found.status();
    ++stats->measurements;
    const int64_t config = read_stats_.Int(0);
    const auto key = static_cast<size_t>(config);
    if (key >= counted_in_.size()) counted_in_.resize(key + key / 2 + 64);
    if (counted_in_[key] != stats_round_) ++stats->configs;
    counted_in_[key] = stats_round_;
    if (read_stats_.Int(1) != *ok_status || read_stats_.IsNull(2)) continue;
    const double perf_ms = read_stats_.Double(2);
    if (!*best_perf_ms || perf_ms < **best_perf_ms) *best_perf_ms = perf_ms;
    if (stats->best_perf_ms && *stats->best_perf_ms <= perf_ms) continue;
    stats->best_perf_ms = perf_ms;
    stats->best_config = config;
  }
}

absl::StatusOr<int64_t> MeasurementReader::StatusKey(const std::string& name) {
  absl::StatusOr<bool> found = status_key_.Bind(name).Step();
  if (!found.ok()) return found.status();
  if (!*found) return kNoStatus;
  const int64_t key = status_key_.Int(0);
  status_key_.Reset();
  return key;
}

absl::StatusOr<const std::string*> MeasurementReader::StatusName(int64_t status) {
  const auto key = static_cast<size_t>(status);
  if (key >= statuses_.size()) statuses_.resize(key + 1);
  if (statuses_[key].empty()) {
    absl::StatusOr<bool> found = status_name_.Bind(status).Step();
    if (!found.ok()) return found.status();
    if (!*found) return absl::DataLossError(absl::StrCat("status ", status, " is named but not there"));
    statuses_[key] = std::string(status_name_.Text(0));
    status_name_.Reset();
  }
  return &statuses_[key];
}

}  // namespace telemetry::storage
