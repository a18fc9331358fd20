#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker tune`: finds the fastest config of a kernel on a device of this machine, and streams what it
// measures. `exit_status` receives the program's status: 0 a config was found and all is stored, 1 not so, 2 wrong
// usage.
void AddTuneCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
