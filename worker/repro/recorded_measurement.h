#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Returns a property of the device in the attempt's environment, such as "compute_units"; empty if it is not recorded.
std::string DeviceText(const v1::Attempt& attempt, std::string_view name);

// Returns the CUDA architecture of the attempt's device. If it is not recorded, assumes one and adds a notice.
std::string ArchitectureOf(const v1::Attempt& attempt, std::vector<std::string>* notices);

}  // namespace telemetry::worker::repro
