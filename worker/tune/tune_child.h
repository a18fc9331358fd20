#pragma once

#include <optional>

namespace telemetry::worker::tune {

// Runs this process as a compiler or measuring process if the arguments are `tune-child ROLE`. A tuner starts its own
// program again for these processes, so the main function of a program that tunes begins with
//
//   if (std::optional<int> exit_status = tune::RunTuneChild(argc, argv)) return *exit_status;
//
// Returns nullopt for other arguments. Otherwise returns the exit status: 0 done, 1 failed (the error is printed on
// stderr), 2 unknown role.
std::optional<int> RunTuneChild(int argc, char** argv);

}  // namespace telemetry::worker::tune
