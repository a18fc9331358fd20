#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/readers/config_reader.h"
#include "server/storage/readers/detail_reader.h"
#include "server/storage/readers/event_reader.h"
#include "server/storage/readers/ir_graph_reader.h"
#include "server/storage/readers/key_lookup.h"
#include "server/storage/readers/measurement_reader.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// A sender's run and its key.
struct StoredRun {
  int64_t key = 0;
  // Key of the run that supplies the description, IR graphs and run configs: this run itself, unless its sender has not
  // described it.
  int64_t described_by = 0;
  int64_t sender = 0;
  std::string sender_name;  // empty: none
  v1::Run run;
};

// The position after a run, where the next page begins.
struct RunPlace {
  std::string run_id;
  std::string sender_name;

  static RunPlace Behind(const StoredRun& run) { return {.run_id = run.run.run_id(), .sender_name = run.sender_name}; }
};

// An attempt and its key.
struct StoredAttempt {
  sql::AttemptKey key;
  v1::AttemptSummary summary;   // Summarise() fills in the counts
  std::optional<BestRow> best;  // the row of best_perf_ms
};

// A row of run_configs; nullopt: NULL.
struct StoredRunConfig {
  std::optional<std::string> sample_id, decorator;
  int64_t key_list = 0;  // 0: NULL
};

// The run configs of a run.
struct RunConfigList {
  std::vector<std::pair<uint64_t, int64_t>> keys;  // config_ids and keys of the configs, ordered by config_id
  // All rows by the config's key, if the query of the keys read them too. Otherwise empty.
  absl::flat_hash_map<int64_t, StoredRunConfig> rows;
};

// Reads runs and attempts, and owns the readers of the rows that belong to them. Part of a reader: used by one thread,
// inside the caller's transaction.
class DatasetReader {
 public:
  explicit DatasetReader(sql::Database& database);

  // Returns the runs after `after` that the filter selects, ordered by run_id, then by their sender's name. A run
  // without attempts is omitted if another sender has attempts under its run_id. If no sender has, a run without a
  // description is omitted if another sender describes it.
  absl::StatusOr<std::vector<StoredRun>> Runs(const v1::Filter& filter, const RunPlace& after, int64_t limit);
  // Returns all runs with this run_id, or NOT_FOUND if there is none.
  absl::StatusOr<std::vector<StoredRun>> RunsWithId(const std::string& run_id);

  // Returns a run's attempts that began at or after `since_unix_us`, ordered by attempt_id. Fills in only their ids and
  // times; Attempt() reads the rest.
  absl::StatusOr<std::vector<StoredAttempt>> Attempts(const StoredRun& run, int64_t since_unix_us);
  // Does the same for the attempts of all senders' runs with this run_id whose attempt_id is above `after_attempt_id`.
  absl::StatusOr<std::vector<StoredAttempt>> AttemptsWithRunId(const std::string& run_id,
                                                               const std::string& after_attempt_id, int64_t limit);
  // Returns NOT_FOUND if the attempt does not exist.
  absl::StatusOr<StoredAttempt> Attempt(const std::string& attempt_id);

  // Adds the numbers of the run's attempts and rows.
  absl::Status AddTotals(const StoredRun& run, v1::ExportTotals* totals);
  // Count the rows of the attempts. Also fill in the counts of each attempt.
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run, std::vector<StoredAttempt>* attempts);
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run);
  absl::Status Summarise(StoredAttempt* attempt);

  // Lists a run's run configs. If they are few and short, this also reads their rows and the configs, which are the
  // next ones to be passed to configs().Id().
  absl::StatusOr<RunConfigList> ListRunConfigs(int64_t run);
  // Reads the run configs of these configs, at most KeyLookup::kKeysAtOnce; by the config's key. Also reads the
  // configs, which are the next ones to be passed to configs().Id().
  absl::StatusOr<absl::flat_hash_map<int64_t, StoredRunConfig>> ReadRunConfigs(int64_t run,
                                                                               absl::Span<const int64_t> configs);
  absl::Status Fill(const StoredRunConfig& stored, v1::RunConfig* out);

  // Returns the values that exist in the dataset for the fields of a filter.
  absl::StatusOr<v1::FilterValues> ReadFilterValues();

  // Discards all cached keys.
  void Forget() {
    configs_.Forget();
    measurements_.Forget();
    last_key_list_ = 0;
  }

  ConfigReader& configs() { return configs_; }
  MeasurementReader& measurements() { return measurements_; }
  DetailReader& details() { return details_; }
  EventReader& events() { return events_; }
  IrGraphReader& ir_graphs() { return ir_graphs_; }

 private:
  absl::StatusOr<std::vector<StoredAttempt>> ReadAttempts(sql::Statement& bound);
  StoredRun FillRun();
  static StoredAttempt FillAttempt(const sql::Statement& row);
  absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> ReadRunConfigKeys(int64_t run);
  // Adds the current row of a query with the columns TELEMETRY_RUN_CONFIG_COLUMNS and ConfigReader::kColumns.
  void AddRunConfig(const sql::Statement& row, absl::flat_hash_map<int64_t, StoredRunConfig>* rows);
  // Adds the attempt's rows to its own summary and to `stats`.
  absl::Status Count(StoredAttempt* attempt, RowStats* stats);

  ConfigReader configs_;
  MeasurementReader measurements_;
  DetailReader details_;
  EventReader events_;
  IrGraphReader ir_graphs_;
  sql::Statement runs_;
  sql::Statement attempts_;
  sql::Statement attempts_of_;
  sql::Statement attempt_;
  sql::Statement totals_;
  sql::Statement run_config_keys_;
  sql::Statement few_run_configs_;
  KeyLookup run_configs_;
  sql::Statement key_list_;
  // The key list that was read last; 0: none. Most configs of a run have the same one.
  int64_t last_key_list_ = 0;
  std::string last_keys_json_;
  sql::Statement kernel_names_;
  sql::Statement hardware_;
  sql::Statement statuses_;
};

}  // namespace telemetry::storage::readers
