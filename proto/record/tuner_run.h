#pragma once

#include <string>
#include <string_view>

#include "proto/record/json.h"

namespace telemetry::record {

// The content from which the run_id of a tuner other than Helion is derived. An unknown text is empty.
struct TunerRun {
  std::string_view tuner;  // its name without a version: "triton", "kernel_tuner"
  std::string_view kernel_name;
  std::string_view kernel_source;
  Json settings;  // an object: the settings that change the generated code and are not part of a config
  std::string_view input_shapes;
  std::string_view dtypes;
  std::string_view hardware;
};

// Returns the run_id of a tuner other than Helion: sha256("autotune-telemetry run 1" \0 tuner \0 kernel_name \0
// kernel_source \0 canonical JSON of settings \0 input_shapes \0 dtypes \0 hardware), as 64 hex digits. Runs of two
// tuners differ, even on the same kernel, because their configs have different meanings.
std::string RunIdOfTuner(const TunerRun& run);

}  // namespace telemetry::record
