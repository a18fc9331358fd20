#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/measure/measure_outcome.h"

namespace telemetry::worker::tune {

// The result of a config as its row contains it, whichever stage the config reached.
struct Verdict {
  std::string status;  // record/statuses.h
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  std::optional<v1::Failure> failure;
  std::string source_hash;
  std::optional<v1::MeasurementDetail> detail;
};

// Failures map to Helion's statuses as follows:
//
//   generate  does not fit the device (RESOURCE_EXHAUSTED)   filtered     OutOfResources
//             anything else                                  error        by the status code: Unimplemented...
//   compile   the source is refused                          error        CompileError
//             time limit                                     timeout      CompileTimeout
//             the compiler's process died                    peer_compilation_fail   CompilerCrash
//   load, launch, run, check
//             time limit                                     timeout      Hang
//             anything else                                  error        the class from the measuring process
//   never run, since the budget was used up                  filtered     OverBudget

// Returns the verdict on a config whose code could not be generated.
Verdict NotGenerated(const absl::Status& status);
// Returns the verdict on a config whose source did not compile: result.code is not OK.
Verdict NotCompiled(const CompileResult& result);
// Returns the verdict on a config with the same code as an earlier one. The time is in the row of the earlier config,
// which has the same source_hash.
Verdict Duplicate();
// Returns the verdict on a config that was proposed but not run because the time budget was used up.
Verdict NeverRun(const std::string& why);
// Returns the verdict on a config that the measuring process ran or failed to run. If the measurement stopped early,
// `perf_ms` is the median of the samples until then.
Verdict Measured(const MeasureOutcome& outcome, v1::MeasurementDetail::Stage stage);

}  // namespace telemetry::worker::tune
