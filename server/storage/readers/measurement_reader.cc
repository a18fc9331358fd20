#include "server/storage/readers/measurement_reader.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/failure_json.h"

namespace telemetry::storage::readers {
namespace {

// Status keys start at 1. These values stand for all statuses, and for a status that no row has.
constexpr int64_t kAnyStatus = 0;
constexpr int64_t kNoStatus = -1;
// Limit of the cached names of statuses: the usual ones are few and short.
constexpr size_t kMostStatusBytes = size_t{1} << 20;

}  // namespace

MeasurementReader::MeasurementReader(sql::Database& database, ConfigReader& configs)
    : configs_(configs),
      read_page_(database,
                 {.text = "SELECT seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure "
                          "FROM whole_measurements",
                  .key = sql::kInRun,
                  .where = "attempt = ?1 AND seq > ?2 AND (?3 = 0 OR status = ?3) ORDER BY seq LIMIT ?4"}),
      read_hashes_(database, {.text = "SELECT seq, source_hash FROM source_hashes",
                              .key = sql::kInRun,
                              .where = "attempt = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq"}),
      has_hashes_(database,
                  {.text = "SELECT EXISTS (SELECT 1 FROM source_hashes", .key = sql::kInRun, .where = "attempt = ?1)"}),
      count_(database, {.text = "SELECT count(*) FROM measurements", .key = sql::kInRun, .where = "attempt = ?1"}),
      read_stats_(database, {.text = "SELECT config, status, perf_ms, seq FROM measurements",
                             .key = sql::kInRun,
                             .where = "attempt = ?1 ORDER BY seq"}),
      read_ranks_(database, {.text = "SELECT seq, stage FROM measurement_details",
                             .key = sql::kInRun,
                             .where = "attempt = ?1 AND stage IN ('final', 'screening') ORDER BY seq"}),
      status_key_(database, "SELECT status FROM statuses WHERE name = ?1"),
      status_name_(database, "SELECT name FROM statuses WHERE status = ?1") {}

absl::StatusOr<bool> MeasurementReader::ReadPage(const sql::AttemptKey& key, uint64_t after_seq, const PageEnd& end,
                                                 const std::string& status,
                                                 google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                                                 v1::ExportConfigs* announced) {
  ASSIGN_OR_RETURN(int64_t status_key, status.empty() ? kAnyStatus : StatusKey(status));
  // SQLite's integers end at the largest sequence number, so no row follows.
  if (after_seq > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  read_page_.Bind(sql::InRun{key.run}, key.attempt, after_seq, status_key, end.rows + 1);
  size_t bytes = 0;
  while (true) {
    const int64_t before = rows->size();
    const int64_t most = std::min<int64_t>(end.rows - before, KeyLookup::kKeysAtOnce);
    bool is_last = false;
    ASSIGN_OR_RETURN(const std::vector<int64_t> configs, ReadRows({.rows = most, .bytes = end.bytes}, rows, &is_last));
    RETURN_IF_ERROR(SetConfigs(configs, end.bytes, rows, announced, &bytes));
    const bool is_cut = rows->size() < before + std::ssize(configs);
    if (!is_cut && is_last) return false;
    if (is_cut) break;
    if (rows->size() < end.rows && bytes < end.bytes) continue;
    ASSIGN_OR_RETURN(const bool more, read_page_.Step());
    if (!more) return false;
    break;
  }
  read_page_.Reset();
  return true;
}

absl::StatusOr<std::vector<int64_t>> MeasurementReader::ReadRows(const PageEnd& end, Rows* rows, bool* is_last) {
  std::vector<int64_t> configs;
  size_t failure_bytes = 0;
  while (std::ssize(configs) < end.rows && failure_bytes < end.bytes) {
    ASSIGN_OR_RETURN(const bool found, read_page_.Step());
    *is_last = !found;
    if (!found) break;
    configs.push_back(read_page_.Int(6));
    if (!read_page_.IsNull(7)) failure_bytes += read_page_.Text(7).size();
    RETURN_IF_ERROR(Fill(rows->Add()));
  }
  return configs;
}

absl::Status MeasurementReader::SetConfigs(absl::Span<const int64_t> configs, size_t most_bytes, Rows* rows,
                                           v1::ExportConfigs* announced, size_t* bytes) {
  RETURN_IF_ERROR(configs_.Prefetch(configs, announced != nullptr));
  int at = rows->size() - static_cast<int>(configs.size());
  for (const int64_t config : configs) {
    if (*bytes >= most_bytes) {
      rows->DeleteSubrange(at, rows->size() - at);
      break;
    }
    v1::Measurement& row = (*rows)[at++];
    const int announced_before = announced == nullptr ? 0 : announced->configs_size();
    ASSIGN_OR_RETURN(const uint64_t id, configs_.Id(config, announced));
    row.set_config_id(id);
    *bytes += row.ByteSizeLong();
    if (announced != nullptr && announced->configs_size() > announced_before) {
      *bytes += announced->configs().rbegin()->ByteSizeLong();
    }
  }
  return absl::OkStatus();
}

absl::Status MeasurementReader::Fill(v1::Measurement* row) {
  row->set_seq(static_cast<uint64_t>(read_page_.Int(0)));
  row->set_timestamp_s(read_page_.Double(1));
  row->set_generation(read_page_.Int(2));
  ASSIGN_OR_RETURN(const std::string* const status, StatusName(read_page_.Int(3)));
  row->set_status(*status);
  if (!read_page_.IsNull(4)) row->set_perf_ms(read_page_.Double(4));
  if (!read_page_.IsNull(5)) row->set_compile_time_s(read_page_.Double(5));
  if (!read_page_.IsNull(7)) sql::FailureFromJson(read_page_.Text(7), row->mutable_failure());
  return absl::OkStatus();
}

absl::Status MeasurementReader::ReadHashes(const sql::AttemptKey& key,
                                           const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                                           google::protobuf::RepeatedPtrField<v1::SourceHash>* hashes) {
  if (rows.empty()) return absl::OkStatus();
  read_hashes_.Bind(sql::InRun{key.run}, key.attempt, rows.begin()->seq(), rows.rbegin()->seq());
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

absl::StatusOr<bool> MeasurementReader::HasHashes(const sql::AttemptKey& key) {
  RETURN_IF_ERROR(has_hashes_.Bind(sql::InRun{key.run}, key.attempt).Step().status());
  const bool has = has_hashes_.Int(0) != 0;
  has_hashes_.Reset();
  return has;
}

absl::StatusOr<uint64_t> MeasurementReader::Count(const sql::AttemptKey& key) {
  RETURN_IF_ERROR(count_.Bind(sql::InRun{key.run}, key.attempt).Step().status());
  const auto count = static_cast<uint64_t>(count_.Int(0));
  count_.Reset();
  return count;
}

absl::StatusOr<std::vector<std::pair<uint64_t, RowRank>>> MeasurementReader::ReadRanks(const sql::AttemptKey& key) {
  std::vector<std::pair<uint64_t, RowRank>> ranks;
  read_ranks_.Bind(sql::InRun{key.run}, key.attempt);
  while (true) {
    ASSIGN_OR_RETURN(bool found, read_ranks_.Step());
    if (!found) return ranks;
    const bool is_final = read_ranks_.Text(1) == "final";
    ranks.emplace_back(static_cast<uint64_t>(read_ranks_.Int(0)), is_final ? RowRank::kFinal : RowRank::kScreening);
  }
}

absl::Status MeasurementReader::Add(const sql::AttemptKey& key, RowStats* stats, std::optional<BestRow>* best) {
  ASSIGN_OR_RETURN(int64_t ok_status, OkStatusKey());
  ASSIGN_OR_RETURN(const auto ranks, ReadRanks(key));
  auto rank = ranks.begin();
  read_stats_.Bind(sql::InRun{key.run}, key.attempt);
  while (true) {
    absl::StatusOr<bool> found = read_stats_.Step();
    if (!found.ok() || !*found) return found.status();
    ++stats->measurements;
    const int64_t config = read_stats_.Int(0);
    if (counted_.insert(config).second) ++stats->configs;
    if (read_stats_.Int(1) != ok_status || read_stats_.IsNull(2)) continue;
    const auto seq = static_cast<uint64_t>(read_stats_.Int(3));
    while (rank != ranks.end() && rank->first < seq) ++rank;
    const bool is_ranked = rank != ranks.end() && rank->first == seq;
    const BestRow row = {.rank = is_ranked ? rank->second : RowRank::kSearch, .perf_ms = read_stats_.Double(2)};
    if (row.rank == RowRank::kScreening) continue;
    if (!best->has_value() || row.IsBetterThan(**best)) *best = row;
    if (stats->best.has_value() && !row.IsBetterThan(*stats->best)) continue;
    stats->best = row;
    stats->best_config = config;
  }
}

absl::StatusOr<int64_t> MeasurementReader::StatusKey(const std::string& name) {
  ASSIGN_OR_RETURN(bool found, status_key_.Bind(name).Step());
  if (!found) return kNoStatus;
  const int64_t key = status_key_.Int(0);
  status_key_.Reset();
  return key;
}

absl::StatusOr<int64_t> MeasurementReader::OkStatusKey() {
  if (ok_status_.has_value()) return *ok_status_;
  ASSIGN_OR_RETURN(const int64_t key, StatusKey("ok"));
  if (key != kNoStatus) ok_status_ = key;
  return key;
}

absl::StatusOr<const std::string*> MeasurementReader::StatusName(int64_t status) {
  const auto key = static_cast<size_t>(status);
  if (key >= statuses_.size()) statuses_.resize(key + 1);
  if (statuses_[key].empty()) {
    ASSIGN_OR_RETURN(bool found, status_name_.Bind(status).Step());
    if (!found) return absl::DataLossError(absl::StrCat("status ", status, " is referenced but missing"));
    const std::string_view name = status_name_.Text(0);
    if (status_bytes_ + name.size() > kMostStatusBytes) {
      statuses_.assign(key + 1, "");
      status_bytes_ = 0;
    }
    status_bytes_ += name.size();
    statuses_[key] = std::string(name);
    status_name_.Reset();
  }
  return &statuses_[key];
}

}  // namespace telemetry::storage::readers
