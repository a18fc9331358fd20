#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/web/api/call.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/config_table.h"
#include "server/web/rows/knob_table.h"
#include "server/web/rows/measured_config.h"

namespace telemetry::web::api {

// A knob with more than one value, and the variance of the time that it explains.
struct VariedKnob {
  rows::Knob knob;
  std::optional<double> effect;
};

// The results of a run's configs, with their knobs.
struct KnobView {
  std::vector<rows::MeasuredConfig> configs;  // with a result, the fastest first, failed ones last
  rows::ConfigTable table;
  std::vector<VariedKnob> knobs;     // the most effective first
  std::vector<rows::Knob> constant;  // with one value
  bool is_cut = false;
};

// Reads the results of the attempts, and computes the effects of their knobs.
absl::StatusOr<KnobView> ReadKnobView(const Call& call, const RunScope& scope);

}  // namespace telemetry::web::api
