#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "proto/record/sidecar/meta_record.h"
#include "proto/record/sidecar/row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_log.h"

namespace telemetry::worker::forward {

// Emits the runs and configs that the records and rows of one group describe, each only once. Not thread-safe. Errors
// are those of the sink.
class RunLog {
 public:
  explicit RunLog(RecordSink sink) : sink_(std::move(sink)) {}

  // Adds a record of a run with its configs. The caller handles its graph.
  absl::Status AddRecord(const record::sidecar::MetaRecord& record);

  // Adds a row, whose run_id and config_id must be set. `run` is the row's run if the row does not describe it itself,
  // else null.
  absl::Status AddRow(const record::sidecar::Row& row, const v1::Run* run);

  // Adds the text of a config.
  absl::Status AddConfig(uint64_t config_id, std::string_view text);

 private:
  absl::Status AddRunOfRow(const record::sidecar::Row& row, const v1::Run* run);
  absl::Status AddSample(const record::sidecar::Row& row);
  absl::Status Send(const v1::Run& run);

  RecordSink sink_;
  absl::flat_hash_map<std::string, std::string>
      signature_of_run_;  // settings signatures by run_id, for runs that rows named
  absl::flat_hash_set<uint64_t> configs_;
  absl::flat_hash_set<std::pair<std::string, uint64_t>> samples_;  // pairs of run_id and config_id
};

}  // namespace telemetry::worker::forward
