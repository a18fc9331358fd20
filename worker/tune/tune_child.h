#pragma once

#include <optional>

namespace telemetry::worker::tune {

// A tuner's children are processes of the tuner's own program. Such a program's main begins with
//
//   if (std::optional<int> exit_status = tune::RunTuneChild(argc, argv)) return *exit_status;
//
// Empty: the arguments are not `tune-child ROLE`. Otherwise the process has been a child, and the result is its exit
// status: 0 done, 1 failed (said on stderr), 2 there is no such role.
std::optional<int> RunTuneChild(int argc, char** argv);

}  // namespace telemetry::worker::tune
