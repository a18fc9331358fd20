#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "proto/record/sidecar_record.h"
#include "proto/record/sidecar_row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_log.h"

namespace telemetry::forward {

// Hands over what the records and the rows of one group say of runs and configs. What many rows say is sent once.
// Not thread-safe. Errors are the sink's.
class RunLog {
 public:
  explicit RunLog(RecordSink sink) : sink_(std::move(sink)) {}

  // A record of a run, with its configs. Its graph is left to the caller.
  absl::Status AddRecord(const record::MetaRecord& record);

  // A row with its run_id and config_id; `run`: the row's run where the row does not describe it itself, or null.
  absl::Status AddRow(const record::SidecarRow& row, const v1::Run* run);

 private:
  absl::Status AddRunOfRow(const record::SidecarRow& row, const v1::Run* run);
  absl::Status AddConfig(uint64_t config_id, std::string_view text);
  absl::Status AddSample(const record::SidecarRow& row);
  absl::Status Send(const v1::Run& run);

  RecordSink sink_;
  absl::flat_hash_map<std::string, std::string> signature_of_run_;  // of runs that rows named
  absl::flat_hash_set<uint64_t> configs_;
  absl::flat_hash_set<std::pair<std::string, uint64_t>> samples_;  // run_id, config_id
};

}  // namespace telemetry::forward
