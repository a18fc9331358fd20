#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::worker::tune {

// What makes a run: FORMATS, Identity, the helion formula.
struct RunDescription {
  std::string kernel_name;
  std::string kernel_source;
  std::string input_shapes;  // as Python prints them: PythonShapes
  std::string dtypes;        // as Python prints them: PythonDTypes
  std::string hardware;      // "NVIDIA H200"
  // An object with Helion's names (worker/kernel, SettingsToJson); null: none.
  record::Json settings;
};

// The run with its run_id and, where the settings say static_shapes, its kernel_id and settings_signature: what
// forwarding the run's sidecars gives.
v1::Run DescribeRun(const RunDescription& description);

// "[(4096, 2560), (2560,), ()]".
std::string PythonShapes(absl::Span<const std::vector<int64_t>> shapes);
// "['torch.float16']"; names are Python's: "torch.float16".
std::string PythonDTypes(absl::Span<const std::string> names);

}  // namespace telemetry::worker::tune
