#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker devices`: prints what kernels can be tuned on here. `exit_status` receives the program's
// status when the command ran: 0 there is a device, 1 there is none.
void AddDevicesCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
