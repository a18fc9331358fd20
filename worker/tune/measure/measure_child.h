#pragma once

#include "absl/status/status.h"

namespace telemetry::worker::tune {

// The inside of a measuring process (`tune-child measure`): opens the device and uploads the problem that a Measurer
// sends, then measures one config after another until the Measurer is gone or the device is of no more use.
// FAILED_PRECONDITION: the process was not started by one.
absl::Status RunMeasureChild();

}  // namespace telemetry::worker::tune
