#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/producer.h"
#include "proto/record/json.h"
#include "proto/record/sidecar_record.h"
#include "proto/record/sidecar_row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/record/sidecar_log.h"

namespace telemetry::worker::tune {

// What is known of an attempt before its first config.
struct AttemptInfo {
  std::string attempt_id;                             // 16 bytes: NewAttemptId
  v1::Run run;                                        // DescribeRun
  std::optional<v1::IrGraph> ir_graph;                // of the device code; its run_id and kind are filled in
  std::optional<v1::IrGraph> wrapper_graph;           // of what is around it; likewise
  std::string origin;                                 // the CI job's label, or empty
  std::string search_algorithm;                       // "PatternSearch"
  int64_t seed = 0;                                   // of the search
  record::Json environment = record::Json::Object();  // Environment
  absl::Time started = absl::UnixEpoch();             // to the microsecond
};

// 16 random bytes.
std::string NewAttemptId();

// Where records go; either may be absent. Both must outlive the recorder.
struct AttemptSinks {
  client::Producer* producer = nullptr;
  SidecarLog* log = nullptr;
};

// One event of one config.
struct RecordedRow {
  double timestamp_s = 0;  // since the attempt began; not before the last row's
  int64_t generation = 0;
  record::Json config;            // an object, keys in the order of the record
  std::string status;             // statuses.h
  std::optional<double> perf_ms;  // recorded only where it is finite
  std::optional<double> compile_time_s;
  std::optional<v1::Failure> failure;
  std::string source_hash;                      // SHA-256 of the generated source in lower-case hex; empty: none
  std::optional<v1::MeasurementDetail> detail;  // attempt_id and seq are filled in, what is not finite is left out
};

// Turns what a tuner does into records, live (a producer) and as sidecars (a log). Not thread-safe.
//
// Rows are numbered from 1 in the order in which they are recorded. In the sidecars no row names its attempt, so that a
// reader tells attempts apart by their order: a "started" row is followed by its config's result before the next
// "started" one, a config starts once in a generation, and time does not run backwards. The tuner keeps to that.
//
// Nothing is dropped: a call blocks while the producer's spool is at its limit. After an error the call may be made
// again with the same arguments, also where one of the two sinks had taken it: what comes again changes nothing.
//
// Resuming. An attempt that may be resumed is not ended. The tuner keeps its AttemptInfo and its rows and writes each
// row down before it records it; then the next process begins with the same AttemptInfo, calls Replay for each row
// written down, in order, and goes on with Row. The records are the same as before, with the same numbers.
class AttemptRecorder {
 public:
  // INVALID_ARGUMENT: no attempt_id of 16 bytes, no run_id, an environment that is no object, or no sink.
  static absl::StatusOr<std::unique_ptr<AttemptRecorder>> Create(AttemptInfo info, AttemptSinks sinks);

  // Says who is measured: the run, its graph, the attempt as open. Call first. Errors as Producer::Append.
  absl::Status Begin();

  // Records the next row, and its config where it is the first that names it. INVALID_ARGUMENT: what is wrong with the
  // row; nothing is recorded. Else errors as Producer::Append and SidecarLog::Append; the row has no number yet.
  absl::Status Row(const RecordedRow& row);
  // Records a row that an earlier process of this attempt has recorded, or was about to. Errors as Row.
  absl::Status Replay(const RecordedRow& row);

  // Records how the attempt ended (complete or abandoned) and what it came to (CountersJson), adds the run's record to
  // the log, and returns when all records are forced to the local disk. Errors as Producer::Append, Producer::Flush and
  // SidecarLog::AppendRecord. Nothing may be recorded afterwards.
  absl::Status End(v1::Attempt::State state, const record::Json& counters);

  // The number that the next row gets.
  uint64_t next_seq() const { return next_seq_; }
  const AttemptInfo& info() const { return info_; }

 private:
  enum class Log { kAlways, kMissing };

  AttemptRecorder(AttemptInfo info, AttemptSinks sinks) : info_(std::move(info)), sinks_(sinks) {}

  absl::Status Check(const RecordedRow& row) const;
  absl::Status Record(const RecordedRow& row, Log log);
  absl::Status AppendToLog(const record::SidecarRow& row, Log log);
  std::vector<v1::Record> RecordsOf(const RecordedRow& row, const record::SidecarRow& sidecar_row, bool is_new_config);
  v1::Record AttemptRecord(v1::Attempt::State state) const;

  AttemptInfo info_;
  AttemptSinks sinks_;
  uint64_t next_seq_ = 1;
  double last_timestamp_s_ = 0;
  absl::flat_hash_set<uint64_t> announced_;    // config ids
  std::vector<record::RecordConfig> configs_;  // the same, in the order in which they came
};

}  // namespace telemetry::worker::tune
