#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker kernels`, which lists the kernel library. Sets `*exit_status` to 0.
void AddKernelsCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
