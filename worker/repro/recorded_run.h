#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/kernel/settings.h"
#include "worker/kernels/library.h"

namespace telemetry::worker::repro {

// A run of a library kernel, understood again.
struct RecordedRun {
  const kernels::LibraryKernel* kernel = nullptr;  // never null
  kernels::Problem problem;                        // scalars, which no run says, have their defaults
  Settings settings;
  Dialect dialect = Dialect::kCuda;
  // What differs from the run as it was measured; empty where the same run_id comes of it.
  std::vector<std::string> notices;
};

// UNIMPLEMENTED: a kernel that is not in the library (one of Helion's, say), or shapes, dtypes or settings that this
// version does not understand; says which.
absl::StatusOr<RecordedRun> ReadRun(const v1::Run& run);

}  // namespace telemetry::worker::repro
