#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/attempt_key.h"
#include "server/storage/config_reader.h"
#include "server/storage/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// What the rows of an attempt, or of several, come to.
struct RowStats {
  uint64_t measurements = 0;
  uint64_t configs = 0;  // distinct
  // The smallest perf_ms of an "ok" row, and its config's key; of equals the row that was counted first.
  std::optional<double> best_perf_ms;
  int64_t best_config = 0;
};

// Reads measurements and source hashes: the hot path of an export. Part of a reader: one thread, inside the caller's
// transaction.
class MeasurementReader {
 public:
  // `configs` must outlive this.
  MeasurementReader(Database& database, ConfigReader& configs);

  // The rows of one page: at most `limit` above after_seq, only those with `status` unless that is empty. attempt_id is
  // left empty. Configs not seen before go to `announced`, unless that is null.
  absl::Status ReadPage(const AttemptKey& key, uint64_t after_seq, int64_t limit, const std::string& status,
                        google::protobuf::RepeatedPtrField<v1::Measurement>* rows, v1::ExportConfigs* announced);

  // The hashes of those rows.
  absl::Status ReadHashes(const AttemptKey& key, const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                          google::protobuf::RepeatedPtrField<v1::SourceHash>* hashes);
  absl::StatusOr<bool> HasHashes(const AttemptKey& key);

  absl::StatusOr<uint64_t> Count(const AttemptKey& key);
  // Begins a new set of rows for Add to count distinct configs over.
  RowStats NewStats() { return ++stats_round_, RowStats(); }
  // Counts the attempt's rows into `stats`, and the smallest perf_ms of them alone into `best_perf_ms`.
  absl::Status Add(const AttemptKey& key, RowStats* stats, std::optional<double>* best_perf_ms);

  void Forget() {
    statuses_ = {};
    counted_in_ = {};
  }

 private:
  absl::Status Fill(v1::Measurement* row, v1::ExportConfigs* announced);
  absl::StatusOr<int64_t> StatusKey(const std::string& name);
  absl::StatusOr<const std::string*> StatusName(int64_t status);

  ConfigReader& configs_;
  std::vector<std::string> statuses_;  // by key; empty: not seen
  uint32_t stats_round_ = 0;
  std::vector<uint32_t> counted_in_;  // by config key: the round in which it was counted last

  Statement read_page_;
  Statement read_hashes_;
  Statement has_hashes_;
  Statement count_;
  Statement read_stats_;
  Statement status_key_;
  Statement status_name_;
};

}  // namespace telemetry::storage
