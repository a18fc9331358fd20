#include <cstdio>
#include <memory>
#include <string>

#include "proto/base/status_macros.h"
#include "server/commands/commands.h"
#include "server/commands/dataset_flags.h"
#include "server/storage/upkeep/backup.h"

namespace telemetry::commands {
namespace {

class BackupCommand final : public cli::Command {
 public:
  BackupCommand()
      : Command({.name = "backup",
                 .summary = "Copy the dataset; works while a collector serves it",
                 .examples = "  telemetry-collector backup --db telemetry.db --to telemetry-today.db\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    AddSqliteFile(flags, "db", db_, "The dataset's SQLite file");
    flags.File("to", to_, "The copy; must not exist");
  }

  absl::StatusOr<int> Run() override {
    RETURN_IF_ERROR(storage::upkeep::BackUpDataset(db_, to_));
    std::printf("%s: copied to %s\n", db_.c_str(), to_.c_str());
    return cli::kExitDone;
  }

 private:
  std::string db_;
  std::string to_;
};

}  // namespace

std::unique_ptr<cli::Command> NewBackup() { return cli::New<BackupCommand>(); }

}  // namespace telemetry::commands
