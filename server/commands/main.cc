#include "absl/synchronization/mutex.h"
#include "proto/base/cli/program.h"
#include "proto/log/log.h"
#include "server/commands/commands.h"

namespace {

constexpr char kNotes[] =
    R"(Each flag can also be set in the environment (TELEMETRY_COLLECTOR_DB for --db, TELEMETRY_COLLECTOR_LISTEN for --listen,
...) or in a file given with --config, with lines such as: serve.listen = "127.0.0.1:4747"
Exit status: 0 done, 1 failed, 2 wrong usage.)";

void SetUpProcess() {
  // Debian builds Abseil with assertions, with which every lock of a mutex searches all mutexes ever held for cycles.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace

int main(int argc, char** argv) {
  SetUpProcess();
  telemetry::log::SetUp(telemetry::log::Format::kText, "info");
  return telemetry::cli::RunProgram(
      {.name = "telemetry-collector",
       .summary = "Collects the measurements of GPU kernel autotuners: accepts records over gRPC and stores each one "
                  "durably once.",
       .notes = kNotes,
       .commands = telemetry::commands::kCommands},
      argc, argv);
}
