#pragma once

#include "absl/status/status.h"

namespace telemetry::worker::tune::compile {

// Runs a compiler process: compiles the sources that the pool sends, one after the other, until the pool closes the
// connection. FAILED_PRECONDITION: the process was not started by a pool.
absl::Status RunCompileChild();

}  // namespace telemetry::worker::tune::compile
