#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/bench_tune/tune_cases.h"
#include "worker/device/device.h"
#include "worker/tune/tuner.h"

namespace telemetry::bench {

// The settings of a tuning run.
struct TuneRunOptions {
  worker::tune::search::Effort effort = worker::tune::search::Effort::kQuick;
  std::string algorithm;
  uint64_t seed = 0;
  int sabotage = 0;     // every `sabotage`-th config makes an illegal memory access; 0: none
  double budget_s = 0;  // time budget; 0: none
  bool verbose = false;
  std::string compiler_options;  // of all sources, beside the usual ones, separated by spaces
  std::string log;               // the base of sidecars that are kept; empty: none
  int max_configs = 0;           // 0: as the effort says
};

// Runs one complete attempt, recorded in a temporary folder.
absl::StatusOr<worker::tune::TuneResult> RunTune(const TuneCase& tune_case,
                                                 const std::shared_ptr<worker::device::Device>& device,
                                                 const TuneRunOptions& options);

}  // namespace telemetry::bench
