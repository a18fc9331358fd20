#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/repro/recorded_measurement.h"
#include "worker/repro/repro_program.h"

namespace telemetry::worker::repro {

// Returns the program of a measurement of a specification's kernel, and the files with its inputs, next to the program.
// The program runs the reference of the specification's verification first and compares the results of the config with
// it. In Python, it needs CuPy for CUDA and PyOpenCL for OpenCL. `spec_path` is the specification; `path` is as for
// MakeReproProgram(). INVALID_ARGUMENT: the run is not one of this specification. Other errors are those of
// ReadSpecification and of the specification's files.
absl::StatusOr<ReproProgram> MakeSpecProgram(const RecordedMeasurement& measured, const std::string& spec_path,
                                             ProgramLanguage language, const std::string& path = "");

}  // namespace telemetry::worker::repro
