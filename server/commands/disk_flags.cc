#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {

void AddDisk(CLI::App* serve, CommandLine& line) {
  Size(serve, "keep-free", line.limits.keep_free_bytes,
       "Take nothing new while less of the dataset's disk is free; 0: until it is full")
      ->default_str("256MiB");
}

}  // namespace telemetry::collector
