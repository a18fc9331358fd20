#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker run`: tunes the kernels of a suite file, once or on a schedule; the daemon of a GPU runner.
// `exit_status` receives the program's status: 0 all was tuned and is stored, 1 something was not, 2 wrong usage.
void AddRunCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
