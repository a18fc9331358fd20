#pragma once

#include "absl/status/status.h"

namespace telemetry::worker::tune {

// The inside of a compiler process: compiles what the pool sends, one source after the other, until the pool is gone.
// FAILED_PRECONDITION: the process was not started by a pool.
absl::Status RunCompileChild();

}  // namespace telemetry::worker::tune
