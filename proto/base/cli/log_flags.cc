#include "proto/base/cli/log_flags.h"

namespace telemetry::cli {

void LogFlags::AddTo(Flags& flags) {
  flags.Add("log-level", level, "Lowest level to log on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  flags.Add("log-format", format, "Log format: lines of text, or one JSON object per line")
      ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace telemetry::cli
