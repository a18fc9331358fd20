#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker best`: prints the best known config of a kernel as JSON. `exit_status` receives the program's
// status: 0 printed, 1 none is known, 2 wrong usage.
void AddBestCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
