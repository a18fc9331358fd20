#include <malloc.h>

#include <cstdio>
#include <string>

#include "absl/synchronization/mutex.h"
#include "proto/log/log.h"
#include "server/commands/command_line.h"
#include "server/commands/copy_command.h"
#include "server/commands/delete_command.h"
#include "server/commands/maintenance_commands.h"
#include "server/commands/serve_command.h"
#include "server/commands/stats_command.h"
#include "server/commands/tls_commands.h"
#include "server/commands/token_commands.h"
#include "server/commands/validate_command.h"

namespace {

using telemetry::collector::Command;
using telemetry::collector::CommandLine;

absl::Status Run(const CommandLine& line) {
  switch (line.command) {
    case Command::kServe:
      return line.validate ? telemetry::collector::ValidateServe(line) : telemetry::collector::Serve(line);
    case Command::kCheck:
      return telemetry::collector::Check(line);
    case Command::kRestore:
      return telemetry::collector::Restore(line);
    case Command::kBackup:
      return telemetry::collector::Backup(line);
    case Command::kCopy:
      return telemetry::collector::Copy(line);
    case Command::kMigrate:
      return telemetry::collector::MigrateDataset(line);
    case Command::kPrune:
      return telemetry::collector::Prune(line);
    case Command::kDelete:
      return telemetry::collector::Delete(line.deletion);
    case Command::kStats:
      return telemetry::collector::Stats(line);
    case Command::kTokenAdd:
      return telemetry::collector::AddToken(line.token);
    case Command::kTokenList:
      return telemetry::collector::ListTokens(line.token);
    case Command::kTokenRevoke:
      return telemetry::collector::RevokeToken(line.token);
    case Command::kTlsInit:
      return telemetry::collector::InitTls(line.tls_init);
  }
  return absl::InternalError("unknown command");
}

void SetUpProcess() {
  // Debian builds Abseil with assertions, with which every lock of a mutex searches all mutexes ever held for cycles.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Returns free memory to the system: two heaps that each keep little, and large blocks outside of them. By default
  // glibc uses eight heaps per core, and the first large block that is freed moves later blocks of its size into the
  // heaps.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

// Prints an error. With --log-format json the error is a JSON line too, so that programs can parse the entire log.
void Complain(const CommandLine& line, const std::string& why) {
  if (line.command == Command::kServe && line.log_format == "json") return telemetry::log::Error(why);
  std::fprintf(stderr, "telemetry-collector: %s\n", why.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  SetUpProcess();
  telemetry::log::SetUp(telemetry::log::Format::kText, "info");
  const telemetry::collector::ParsedCommandLine parsed = telemetry::collector::ParseCommandLine(argc, argv);
  if (!parsed.run) return parsed.exit_status;
  const absl::Status status = Run(parsed.line);
  if (status.ok()) return 0;
  Complain(parsed.line, std::string(status.message()));
  return 1;
}
