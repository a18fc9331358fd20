#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker run`, the daemon of a GPU runner: tunes the kernels of a suite file, once or on a schedule.
// After the command has run, `*exit_status` is 0 if every kernel was tuned and the collector stored all records, 1 if
// not, and 2 for wrong usage.
void AddRunCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
