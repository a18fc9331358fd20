#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "proto/access/grpc_log.h"
#include "proto/base/cli/program.h"
#include "proto/log/log.h"
#include "spdlog/spdlog.h"
#include "worker/commands.h"
#include "worker/tune/tune_child.h"

namespace telemetry::worker {
namespace {

// Logs the error of a command. The values of flags that a command parses itself cause INVALID_ARGUMENT.
int LogError(const absl::Status& error) {
  spdlog::error("{}", std::string(error.message()));
  return absl::IsInvalidArgument(error) ? cli::kExitUsage : cli::kExitFailed;
}

int Main(int argc, char** argv) {
  if (const std::optional<int> exit_status = tune::RunTuneChild(argc, argv)) return *exit_status;
  return cli::RunProgram({.name = "telemetry-worker",
                          .summary = "Tunes GPU kernels and streams measurements to a telemetry collector",
                          .config_help = "Read flags from a TOML file: [forward] collector = \"host:4747\"",
                          .empty_values = true,
                          .commands = kCommands,
                          .fail = &LogError},
                         argc, argv);
}

}  // namespace
}  // namespace telemetry::worker

int main(int argc, char** argv) {
  telemetry::log::SetUp(telemetry::log::Format::kText, "info");
  telemetry::access::QuietGrpc();
  try {
    return telemetry::worker::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "telemetry-worker: " << error.what() << "\n";
    return 1;
  }
}
