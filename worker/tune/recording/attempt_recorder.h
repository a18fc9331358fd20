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
#include "absl/types/span.h"
#include "client/producer.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/meta_record.h"
#include "proto/record/sidecar/row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/recording/attempt_row.h"
#include "worker/tune/recording/sidecar_log.h"

namespace telemetry::worker::tune::recording {

// The description of an attempt before its first config.
struct AttemptInfo {
  std::string attempt_id;                             // 16 bytes, from NewAttemptId
  v1::Run run;                                        // from DescribeRun
  std::optional<v1::IrGraph> ir_graph;                // of the device code; run_id and kind are filled in
  std::optional<v1::IrGraph> wrapper_graph;           // of the host code around it; run_id and kind are filled in
  std::string origin;                                 // the CI job's label, or empty
  std::string search_algorithm;                       // "PatternSearch"
  int64_t seed = 0;                                   // of the search
  record::Json environment = record::Json::Object();  // from Environment
  absl::Time started = absl::UnixEpoch();             // with microsecond precision
};

// Returns 16 random bytes.
std::string NewAttemptId();

// The destinations of records; one of them may be null. Both must outlive the recorder.
struct AttemptSinks {
  client::Producer* producer = nullptr;
  SidecarLog* log = nullptr;
};

// Converts the rows of an attempt to records, live (producer) and as sidecars (log). Not thread-safe.
//
// Rows are numbered from 1 in the order of the calls. Rows of sidecars do not contain the attempt, so readers detect
// attempts by the order of rows: a "started" row is followed by its config's result before the next "started" row, a
// config starts once per generation, and timestamps do not decrease. The tuner must keep this order.
//
// No record is dropped: a call blocks while the producer's spool is at its limit. After an error the caller may repeat
// the call with the same arguments, even if one of the two sinks has accepted the row. The repetition changes nothing
// there.
//
// Resuming: an attempt that may be resumed is not ended. The tuner saves its AttemptInfo, and saves each row before it
// records it. The next process begins with the same AttemptInfo, calls Replay for each saved row in order, and
// continues with Row. The records and their numbers are the same as before.
class AttemptRecorder {
 public:
  // INVALID_ARGUMENT: attempt_id does not have 16 bytes, there is no run_id, the environment is not an object, or there
  // is no sink.
  static absl::StatusOr<std::unique_ptr<AttemptRecorder>> Create(AttemptInfo info, AttemptSinks sinks);

  // Records the run, its graphs and the attempt in state open. Must be called first. Returns the errors of
  // Producer::Append.
  absl::Status Begin();

  // Records the next rows, and their configs if no earlier row has them, with one call of Producer::AppendBatch.
  // INVALID_ARGUMENT: a row is invalid; nothing is recorded. Otherwise returns the errors of Producer::AppendBatch and
  // SidecarLog::Append; the rows then have no numbers yet.
  absl::Status Rows(absl::Span<const AttemptRow> rows);
  // Records a row that an earlier process of this attempt recorded or was about to record. Returns the errors of Rows.
  absl::Status Replay(const AttemptRow& row);

  // Records the final state of the attempt (complete or abandoned) and its counters (CountersJson), and appends the
  // run's record to the log. Returns after all records are synced to the local disk. Returns the errors of
  // Producer::Append, Producer::Flush and SidecarLog::AppendRecord. Nothing may be recorded afterwards.
  absl::Status End(v1::Attempt::State state, const record::Json& counters);

  // Returns the number of the next row.
  uint64_t next_seq() const { return next_seq_; }
  const AttemptInfo& info() const { return info_; }

 private:
  enum class Log { kAlways, kMissing };

  AttemptRecorder(AttemptInfo info, AttemptSinks sinks) : info_(std::move(info)), sinks_(sinks) {}

  absl::Status Check(absl::Span<const AttemptRow> rows) const;
  absl::Status Record(absl::Span<const AttemptRow> rows, Log log);
  absl::Status AppendToLog(const AttemptRow& row, Log log);
  void AddConfig(const codegen::Config& config, std::vector<v1::Record>* records) const;
  void AddRow(const AttemptRow& row, uint64_t seq, std::vector<v1::Record>* records) const;
  v1::Record AttemptRecord(v1::Attempt::State state) const;

  AttemptInfo info_;
  AttemptSinks sinks_;
  uint64_t next_seq_ = 1;
  double last_timestamp_s_ = 0;
  absl::flat_hash_set<uint64_t> announced_;             // config ids
  std::vector<record::sidecar::RecordConfig> configs_;  // the same configs in the order of their first rows
};

}  // namespace telemetry::worker::tune::recording
