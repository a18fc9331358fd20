#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/dataset_client.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::repro {

// One config of a run in a collector, with one of its rows and the attempt of that row. The row is the fastest "ok" row
// of finals, else of searches, else of measurements that stopped early; without an "ok" row it is the last row.
struct RecordedMeasurement {
  v1::Run run;
  uint64_t config_id = 0;
  codegen::Config config;
  v1::Measurement row;
  v1::Attempt attempt;
};

// Queries the collector for a measurement. `run` is a run_id or at least its first 4 digits. Without a `config_id`,
// finds the run's best config. Returns NOT_FOUND if the run does not exist or does not have the config; the message
// explains how to list the existing ones. Returns INVALID_ARGUMENT if several runs begin with `run`, or if the config's
// text cannot be parsed. Other errors are those of DatasetClient.
absl::StatusOr<RecordedMeasurement> FindMeasurement(client::DatasetClient& collector, const std::string& run,
                                                    std::optional<uint64_t> config_id);

}  // namespace telemetry::worker::repro
