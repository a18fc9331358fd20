#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker kernels`: lists the library. `exit_status` receives 0.
void AddKernelsCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
