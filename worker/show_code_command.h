#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker show-code`: prints what a kernel of the library is made into, for a config, without a device.
// `exit_status` receives the program's status when the command ran: 0 printed, 1 there is no code for it, 2 the kernel,
// an argument or the config is wrong.
void AddShowCodeCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
