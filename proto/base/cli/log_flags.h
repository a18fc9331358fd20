#pragma once

#include <string>

#include "proto/base/cli/flags.h"

namespace telemetry::cli {

// The level and the format of a log.
struct LogFlags {
  std::string level = "info";
  std::string format = "text";  // or "json"

  // Adds --log-level and --log-format.
  void AddTo(Flags& flags);
};

}  // namespace telemetry::cli
