#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {

void AddDisk(CLI::App* serve, CommandLine& line) {
  Size(serve, "keep-free", line.limits.keep_free_bytes,
       "Free space of the dataset's disk below which records are rejected; 0: reject only when it is full")
      ->default_str("256MiB");
}

}  // namespace telemetry::collector
