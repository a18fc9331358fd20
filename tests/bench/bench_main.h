#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>

#include "absl/status/status.h"

namespace telemetry::bench {

// The common part of the benchmarks' main functions: parses the flags, calls `run` and prints its error to stderr.
// Returns the exit status: 0 on success, 1 after an error, CLI11's status for wrong flags.
int RunBench(CLI::App& app, int argc, char** argv, const std::function<absl::Status()>& run);

// Parses the command line into an Arguments and calls `run`. `add_flags` registers the flags; fields without a flag
// keep their defaults. An exception ends the program with status 1.
template <typename Arguments>
int BenchMain(int argc, char** argv, const char* name, const char* summary, void (*add_flags)(CLI::App&, Arguments&),
              absl::Status (*run)(const Arguments&)) {
  try {
    Arguments arguments;
    CLI::App app(summary, name);
    add_flags(app, arguments);
    return RunBench(app, argc, argv, [&] { return run(arguments); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace telemetry::bench
