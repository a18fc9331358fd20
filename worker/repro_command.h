#pragma once

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker repro`: writes the program of a measurement that a collector knows. `exit_status` receives the
// program's status when the command ran: 0 written, 1 not, 2 wrong usage.
void AddReproCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
