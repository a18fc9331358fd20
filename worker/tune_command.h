#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker tune`, which searches for the fastest config of a kernel on a device of this machine and
// streams its measurements to the collector. After the command has run, `*exit_status` is 0 if a config was found and
// the collector stored all records, 1 if not, and 2 for wrong usage.
void AddTuneCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
