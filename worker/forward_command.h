#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace telemetry {

// Adds `telemetry-worker forward`, which reads Helion's sidecars and streams them to the collector. After the command
// has run, `*exit_status` is 0 if the collector stored everything, 1 if a record was refused, is unreadable or is still
// in the spool, or if a path has no sidecar, and 2 for wrong usage.
void AddForwardCommand(CLI::App* app, int* exit_status);

}  // namespace telemetry
