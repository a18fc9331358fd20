#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/measurement_line.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_log.h"

namespace telemetry::worker::forward {

// A converter from the lines of one .measurements.jsonl file, in file order, to runs, attempts, configs and
// measurements. The lines name their attempts, so that nothing is inferred and equal lines of another copy of the file
// give equal records. Not thread-safe.
class MeasurementLog {
 public:
  explicit MeasurementLog(RecordSink sink) : sink_(std::move(sink)) {}

  // Adds a line. Errors: those of ParseMeasurementsLine(); INVALID_ARGUMENT if the file does not describe the line's
  // attempt before the line; those of the sink.
  absl::Status Add(const record::Json& line);

  // Adds a line that was parsed or made from another format. Errors as above.
  absl::Status Add(const record::sidecar::MeasurementsLine& line);

  // Marks the attempts without an end as abandoned. To be called when the process that wrote the file has ended.
  absl::Status AbandonOpen();

  uint64_t rows() const { return rows_; }
  uint64_t attempts() const { return attempts_.size(); }

 private:
  // An attempt that the file describes.
  struct Attempt {
    std::string run_id;
    std::string origin;
    bool open = true;
  };

  absl::Status Take(const record::sidecar::AttemptLine& line);
  absl::Status Take(const record::sidecar::MeasurementLine& line);
  absl::Status Take(const record::sidecar::EventLine& line);
  absl::Status Take(const record::sidecar::EndLine& line);
  absl::Status Take(const record::sidecar::ContinuedLine& line);
  absl::StatusOr<Attempt*> Find(const std::string& attempt_id);
  absl::Status SendConfig(const v1::Config& config);

  RecordSink sink_;
  std::map<std::string, Attempt> attempts_;  // by attempt_id, so that their order is that of every other reader
  absl::flat_hash_set<uint64_t> configs_;    // that were sent
  uint64_t rows_ = 0;
};

}  // namespace telemetry::worker::forward
