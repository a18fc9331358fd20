#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/model/graph_features.h"
#include "worker/model/run_features.h"
#include "worker/replay/stored_run.h"

namespace telemetry::worker::model {

// A run of a dataset with the inputs of its features.
struct DatasetRun {
  replay::StoredRun stored;
  v1::Run run;
  // Recorded by an attempt of this run, else by an attempt of another run on the same hardware. Unset: not recorded.
  std::optional<device::DeviceProperties> device;
  std::optional<GraphCounts> graph;

  RunFeatures Features() const { return {run, device, graph}; }
};

// Reads the selected runs of the snapshot BASE, which `telemetry-export --layout keyed` wrote. Runs without any result
// are omitted. Returns the errors of snapshot::ReadSnapshot, and FAILED_PRECONDITION for a line of BASE.ir.jsonl that
// cannot be read.
absl::StatusOr<std::vector<DatasetRun>> ReadDatasetRuns(const std::string& base,
                                                        const std::function<bool(const v1::Run&)>& is_selected);

}  // namespace telemetry::worker::model
