#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/runtime/settings.h"

namespace telemetry::worker::repro {

// The parsed form of a run of a library kernel.
struct RecordedRun {
  const kernels::LibraryKernel* kernel = nullptr;  // never null in a result of ReadRun
  kernels::Problem problem;                        // scalars have their defaults, because runs do not contain them
  runtime::Settings settings;
  device::Dialect dialect = device::Dialect::kCuda;
  // The differences from the measured run; empty if a program made from this struct has none.
  std::vector<std::string> notices;
};

// Parses a run. Returns UNIMPLEMENTED, with the reason, for a kernel that is not in the library (for example one of
// Helion's) and for shapes, dtypes or settings that this version does not support.
absl::StatusOr<RecordedRun> ReadRun(const v1::Run& run);

}  // namespace telemetry::worker::repro
