#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/readers/config_reader.h"
#include "server/storage/readers/detail_reader.h"
#include "server/storage/readers/ir_graph_reader.h"
#include "server/storage/readers/measurement_reader.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// A sender's run with its key.
struct StoredRun {
  int64_t key = 0;
  // The run that describes it, with IR graphs and run configs: it itself, but for one of which its sender says nothing.
  int64_t described_by = 0;
  int64_t sender = 0;
  std::string sender_name;  // empty: none
  v1::Run run;
};

// The place behind a run, where the next page begins.
struct RunPlace {
  std::string run_id;
  std::string sender_name;

  static RunPlace Behind(const StoredRun& run) { return {.run_id = run.run.run_id(), .sender_name = run.sender_name}; }
};

// An attempt with its key.
struct StoredAttempt {
  AttemptKey key;
  v1::AttemptSummary summary;   // its counts are filled in by Summarise
  std::optional<BestRow> best;  // as its best_perf_ms
};

// Reads runs and attempts, and holds the readers of what belongs to them. Part of a reader: one thread, inside the
// caller's transaction.
class DatasetReader {
 public:
  explicit DatasetReader(Database& database);

  // Runs behind a place that the filter selects, in the order of run_id, then of their senders' names. A run without
  // attempts is left out where another sender has attempts under its run_id; where none has, one without a description
  // is left out where another sender describes it.
  absl::StatusOr<std::vector<StoredRun>> Runs(const v1::Filter& filter, const RunPlace& after, int64_t limit);
  // All of this run_id. NOT_FOUND: there is none.
  absl::StatusOr<std::vector<StoredRun>> RunsOf(const std::string& run_id);

  // A run's attempts that began at or after `since`, in the order of attempt_id; only their ids and times, Attempt has
  // the rest.
  absl::StatusOr<std::vector<StoredAttempt>> Attempts(const StoredRun& run, int64_t since_unix_us);
  // The same of the attempts of all senders' runs of this run_id above after_attempt_id.
  absl::StatusOr<std::vector<StoredAttempt>> AttemptsOf(const std::string& run_id, const std::string& after_attempt_id,
                                                        int64_t limit);
  // NOT_FOUND: no such attempt.
  absl::StatusOr<StoredAttempt> Attempt(const std::string& attempt_id);

  // Counts over the rows of these attempts, whose own counts are filled in on the way.
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run, std::vector<StoredAttempt>* attempts);
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run);
  absl::Status Summarise(StoredAttempt* attempt);

  // Keys and ids of a run's run_configs, in the order of config_id.
  absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> RunConfigKeys(int64_t run);
  absl::Status ReadRunConfig(int64_t run, int64_t config, v1::RunConfig* out);

  // Reads the values that exist in the dataset for the fields of a filter.
  absl::StatusOr<v1::FilterValues> ReadFilterValues();

  // Forgets what keys stand for.
  void Forget() {
    configs_.Forget();
    measurements_.Forget();
  }

  ConfigReader& configs() { return configs_; }
  MeasurementReader& measurements() { return measurements_; }
  DetailReader& details() { return details_; }
  IrGraphReader& ir_graphs() { return ir_graphs_; }

 private:
  absl::StatusOr<std::vector<StoredAttempt>> ReadAttempts(Statement& bound);
  StoredRun FillRun();
  static StoredAttempt FillAttempt(const Statement& row);
  // Counts an attempt's rows into its own summary and into `stats`.
  absl::Status Count(StoredAttempt* attempt, RowStats* stats);

  ConfigReader configs_;
  MeasurementReader measurements_;
  DetailReader details_;
  IrGraphReader ir_graphs_;
  Statement runs_;
  Statement attempts_;
  Statement attempts_of_;
  Statement attempt_;
  Statement run_config_keys_;
  Statement run_config_;
  Statement kernel_names_;
  Statement hardware_;
  Statement statuses_;
};

}  // namespace telemetry::storage
