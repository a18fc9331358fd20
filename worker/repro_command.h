#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker repro`, which writes a standalone program for a measurement stored in a collector. After the
// command has run, `*exit_status` is 0 if the program was written, 1 if not, and 2 for wrong usage.
void AddReproCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
