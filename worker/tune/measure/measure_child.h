#pragma once

#include "absl/status/status.h"

namespace telemetry::worker::tune::measure {

// Runs a measuring process (`tune-child measure`): opens the device and uploads the problem that a Measurer sends, then
// measures one config after another until the Measurer closes the connection or the device is no longer usable.
// FAILED_PRECONDITION: a Measurer did not start the process.
absl::Status RunMeasureChild();

}  // namespace telemetry::worker::tune::measure
