#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker best`, which prints the best known config of a kernel as JSON. After the command has run,
// `*exit_status` is 0 if a config was printed, 1 if no config is known, and 2 for wrong usage.
void AddBestCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
