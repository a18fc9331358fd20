#pragma once

#include <string>
#include <vector>

#include "proto/record/sidecar/kernel_tuner_file.h"
#include "proto/record/sidecar/measurement_line.h"
#include "worker/forward/run_identity.h"

namespace telemetry::worker::forward {

// The facts about a Kernel Tuner file that are not in the file.
struct KernelTunerContext {
  std::string name;        // name of the file without its suffix; the kernel's name if nothing else names the kernel
  std::string origin;      // label of the CI job
  IdentityFlags identity;  // where set, they complete the description of the run
};

// Returns the lines of the file's attempt: its description, then its rows. Empty if there are no rows. The attempt_id
// is the SHA-256 of the origin, the run_id and the first row, cut to 16 bytes, so that a file that has grown, or a copy
// of the file, is the same attempt.
std::vector<record::sidecar::MeasurementsLine> LinesOfKernelTuner(const record::sidecar::KernelTunerFile& file,
                                                                  const KernelTunerContext& context);

}  // namespace telemetry::worker::forward
