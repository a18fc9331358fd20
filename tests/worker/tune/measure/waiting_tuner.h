#pragma once

namespace telemetry::worker::tune {

// This program's argument that makes it a tuner which starts to measure, says so with a byte on stdout, and then waits
// until it is killed.
inline constexpr char kWaitingTuner[] = "waiting-tuner";

int RunWaitingTuner();

}  // namespace telemetry::worker::tune
