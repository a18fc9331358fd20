#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker devices`, which prints the devices of this machine that kernels can be tuned on. After the
// command has run, `*exit_status` is 0 if there is a device and 1 if there is none.
void AddDevicesCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
