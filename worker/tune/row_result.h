#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/recording/attempt_row.h"

namespace telemetry::worker::tune {

// Conversion of the result of a config, whichever stage it reached, to its row. Failures map to Helion's statuses as
// follows:
//
//   generate  does not fit the device (RESOURCE_EXHAUSTED)   filtered     OutOfResources
//             anything else                                  error        by the status code: Unimplemented...
//   compile   the source is refused                          error        CompileError
//             time limit                                     timeout      CompileTimeout
//             memory limit                                   error        CompileMemory
//             the compiler's process died                    peer_compilation_fail   CompilerCrash
//   load, launch, run, check
//             time limit                                     timeout      Hang
//             anything else                                  error        the class from the measuring process
//   never run, since the budget was used up                  filtered     OverBudget

// Each function below sets the status of a row and the other columns that follow from the result. None sets
// timestamp_s, generation, config or source_hash.

// For a config whose code could not be generated.
void SetNotGenerated(const absl::Status& status, recording::AttemptRow* row);
// For a config whose source did not compile: result.code is not OK.
void SetNotCompiled(const compile::CompileResult& result, recording::AttemptRow* row);
// For a config with the same code as an earlier one. The time is in the row of the earlier config, which has the same
// source_hash.
void SetDuplicate(recording::AttemptRow* row);
// For a config that was proposed but not run because the time budget was used up.
void SetNotRun(std::string_view why, recording::AttemptRow* row);
// For a config that the measuring process ran or failed to run. If the measurement stopped early, `perf_ms` is the
// median of the samples until then.
void SetMeasured(const measure::wire::Outcome& outcome, v1::MeasurementDetail::Stage stage, recording::AttemptRow* row);

}  // namespace telemetry::worker::tune
