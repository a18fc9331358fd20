#pragma once

#include <string>

#include "proto/base/cli/flags.h"

namespace telemetry::cli {

// How a program logs.
struct LogFlags {
  std::string level = "info";
  std::string format = "text";  // or "json"

  // Adds --log-level and --log-format.
  void AddTo(Flags& flags);
};

}  // namespace telemetry::cli
