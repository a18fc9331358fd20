#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/dataset_client.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::repro {

// One config of a run in a collector: its best "ok" row (the fastest of finals, else of searches, else of those that
// were given up), else its last row, and the attempt of that row.
struct RecordedMeasurement {
  v1::Run run;
  uint64_t config_id = 0;
  codegen::Config config;
  v1::Measurement row;
  v1::Attempt attempt;
};

// `run`: a run_id or the beginning of one, at least 4 digits. No config_id: the run's best config.
// NOT_FOUND: no such run, or it has no such config; says how to find what there is. INVALID_ARGUMENT: several runs
// begin so, or the config's text is no config. Other errors are DatasetClient's.
absl::StatusOr<RecordedMeasurement> FindMeasurement(client::DatasetClient& collector, const std::string& run,
                                                    std::optional<uint64_t> config_id);

}  // namespace telemetry::worker::repro
