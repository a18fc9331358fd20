#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>

#include "proto/access/grpc_log.h"
#include "proto/base/usage.h"
#include "proto/log/log.h"
#include "worker/best_command.h"
#include "worker/command_line.h"
#include "worker/devices_command.h"
#include "worker/forward_command.h"
#include "worker/kernels_command.h"
#include "worker/repro_command.h"
#include "worker/run_command.h"
#include "worker/show_code_command.h"
#include "worker/tune/tune_child.h"
#include "worker/tune_command.h"

namespace {

int Run(int argc, char** argv) {
  CLI::App app("Tunes GPU kernels and streams measurements to a telemetry collector", "telemetry-worker");
  app.set_version_flag("--version", "telemetry-worker " TELEMETRY_VERSION);
  // CLI11 reads the config file before the environment, so the variable is passed as the flag's default.
  const char* config = std::getenv("TELEMETRY_WORKER_CONFIG");
  app.set_config("--config", config == nullptr ? "" : config,
                 "Read flags from a TOML file: [forward] collector = \"host:4747\" (Env:TELEMETRY_WORKER_CONFIG)",
                 config != nullptr);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.require_subcommand(1);
  int exit_status = 0;
  telemetry::AddBestCommand(&app, &exit_status);
  telemetry::AddDevicesCommand(&app, &exit_status);
  telemetry::AddForwardCommand(&app, &exit_status);
  telemetry::AddKernelsCommand(&app, &exit_status);
  telemetry::AddReproCommand(&app, &exit_status);
  telemetry::AddRunCommand(&app, &exit_status);
  telemetry::AddShowCodeCommand(&app, &exit_status);
  telemetry::AddTuneCommand(&app, &exit_status);
  for (CLI::App* command : app.get_subcommands(nullptr)) command->fallthrough();  // accept --config after the command
  try {
    app.parse(telemetry::ArgumentsOf(argc, argv));
  } catch (const CLI::ParseError& error) {
    return telemetry::cli::ExitAfterParse(app, error);
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  telemetry::log::SetUp(telemetry::log::Format::kText, "info");
  telemetry::access::QuietGrpc();
  try {
    if (const std::optional<int> exit_status = telemetry::worker::tune::RunTuneChild(argc, argv)) return *exit_status;
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "telemetry-worker: " << error.what() << "\n";
    return 1;
  }
}
