#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/measure/measure_outcome.h"

namespace telemetry::worker::tune {

// What a row says of its config, however far the config came.
struct Verdict {
  std::string status;  // record/statuses.h
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  std::optional<v1::Failure> failure;
  std::string source_hash;
  std::optional<v1::MeasurementDetail> detail;
};

// How failures become Helion's statuses:
//
//   generate  does not fit the device (RESOURCE_EXHAUSTED)   filtered     OutOfResources
//             anything else                                  error        by the status code: Unimplemented...
//   compile   the source is refused                          error        CompileError
//             time limit                                     timeout      CompileTimeout
//             the compiler's process died                    peer_compilation_fail   CompilerCrash
//   load, launch, run, check
//             time limit                                     timeout      Hang
//             anything else                                  error        as the measuring process says
//   never run, since the budget was used up                  filtered     OverBudget

// A config whose code could not be generated.
Verdict NotGenerated(const absl::Status& status);
// A source that has no code. `result.code` is not ok.
Verdict NotCompiled(const CompileResult& result);
// A config whose code is that of a config before it: the one with the same source_hash has the time.
Verdict Duplicate();
// A config that was proposed, and then there was no time left.
Verdict NeverRun(const std::string& why);
// A config that ran, or was to. `perf_ms` of one that was given up is what its few samples say.
Verdict Measured(const MeasureOutcome& outcome, v1::MeasurementDetail::Stage stage);

}  // namespace telemetry::worker::tune
