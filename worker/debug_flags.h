#pragma once

#include <string>

#include "proto/base/cli/flags.h"
#include "worker/debug/debug_options.h"

namespace telemetry::worker {

// The flags of commands that inspect values around launches.
struct DebugFlags {
  int values = 0;
  std::string kernels;
  std::string dir = debug::kDefaultDebugFolder;

  // `when` completes the help of --debug-values: "around each launch".
  void AddTo(cli::Flags& flags, const std::string& when);
  debug::DebugOptions Options() const;
};

}  // namespace telemetry::worker
