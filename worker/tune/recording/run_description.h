#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::worker::tune::recording {

// The content that identifies a run: FORMATS, Identity, the helion formula.
struct RunDescription {
  std::string kernel_name;
  std::string kernel_source;
  std::string input_shapes;  // in Python's notation, see PythonShapes
  std::string dtypes;        // in Python's notation, see PythonDTypes
  std::string hardware;      // "NVIDIA H200"
  // An object with Helion's names (worker/runtime, SettingsToJson); null: none.
  record::Json settings;
};

// Returns the run with its run_id, and with its kernel_id and settings_signature if the settings contain static_shapes.
// Forwarding the run's sidecars gives the same ids.
v1::Run DescribeRun(const RunDescription& description);

// Returns a text such as "[(4096, 2560), (2560,), ()]".
std::string PythonShapes(absl::Span<const std::vector<int64_t>> shapes);
// Returns a text such as "['torch.float16']". The names are Python's, such as "torch.float16".
std::string PythonDTypes(absl::Span<const std::string> names);

}  // namespace telemetry::worker::tune::recording
