#pragma once

namespace telemetry::worker::tune::measure {

// The program's argument that selects the role of a waiting tuner: it starts a measurer, writes a byte to stdout when
// the measurer is ready, and waits until it is killed.
inline constexpr char kWaitingTuner[] = "waiting-tuner";

int RunWaitingTuner();

}  // namespace telemetry::worker::tune::measure
