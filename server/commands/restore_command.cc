#include <cstdio>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "server/commands/commands.h"
#include "server/storage/upkeep/restore.h"

namespace telemetry::commands {
namespace {

class RestoreCommand final : public cli::Command {
 public:
  RestoreCommand()
      : Command(
            {.name = "restore",
             .summary = "Replace the dataset by a copy of a backup and keep the old files; no collector may serve it",
             .examples = "  telemetry-collector restore --from telemetry-today.db --to telemetry.db\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("from", from_, "The backup; it is checked first");
    flags.File("to", to_, "The dataset's SQLite file; an existing one is renamed to FILE.replaced-TIME");
  }

  // Prints the path of the replaced files and the number of acknowledged records that the backup lacks.
  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const storage::upkeep::RestoreReport report,
                     storage::upkeep::RestoreDataset(from_, to_, absl::Now()));
    std::printf("%s: restored from %s, with %s\n", to_.c_str(), from_.c_str(),
                record::Counted(report.records, "acknowledged record").c_str());
    if (!report.kept.empty()) std::printf("the replaced dataset is kept as %s\n", report.kept.c_str());
    if (report.missing_records > 0) {
      std::printf(
          "acknowledged after the backup and missing from it: %s; producers do not resend them; forward their sidecar "
          "files again where they are kept\n",
          record::Counted(report.missing_records, "record").c_str());
    }
    return cli::kExitDone;
  }

 private:
  std::string from_;
  std::string to_;
};

}  // namespace

std::unique_ptr<cli::Command> NewRestore() { return cli::New<RestoreCommand>(); }

}  // namespace telemetry::commands
