#pragma once

#include "absl/status/status.h"
#include "worker/debug/debug_options.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune::measure {

// Conversion between the structs of this folder's interface and the messages to its processes.

wire::Debug ToWire(const debug::DebugOptions& options);
debug::DebugOptions FromWire(const wire::Debug& message);
wire::Config ToWire(const MeasureRequest& request);

}  // namespace telemetry::worker::tune::measure
