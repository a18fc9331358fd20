#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker forward`: reads Helion's sidecars and streams them to the collector. `exit_status` receives
// the program's status when the command ran: 0 all forwarded, 1 something was refused or is still waiting in the spool.
void AddForwardCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
