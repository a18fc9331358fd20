#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker show-code`, which prints the code generated for a library kernel and a config. Needs no
// device. After the command has run, `*exit_status` is 0 if the code was printed, 1 if no code can be generated, and 2
// if the kernel, an argument or the config is invalid.
void AddShowCodeCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
