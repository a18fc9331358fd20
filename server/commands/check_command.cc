#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/commands/commands.h"
#include "server/commands/dataset_flags.h"
#include "server/storage/any/any_store.h"
#include "server/storage/any/any_upkeep.h"
#include "server/storage/upkeep/check.h"
#include "server/storage/upkeep/check_identities.h"

namespace telemetry::commands {
namespace {

absl::Status CheckIdentities(const std::string& db) {
  ASSIGN_OR_RETURN(const std::unique_ptr<storage::sql::Database> database, storage::any::OpenDatabaseForReading(db));
  ASSIGN_OR_RETURN(const storage::upkeep::IdentityCounts counts,
                   storage::upkeep::CheckIdentities(*database, [](const storage::upkeep::WrongIdentity& wrong) {
                     std::printf("WRONG: %s %s from %s: its content has the id %s\n", wrong.what.c_str(),
                                 wrong.id.c_str(),
                                 wrong.sender.empty() ? "nobody" : absl::StrCat("\"", wrong.sender, "\"").c_str(),
                                 wrong.expected.c_str());
                   }));
  std::printf("ids: %lld right, %lld wrong, %lld that cannot be recomputed\n", static_cast<long long>(counts.right),
              static_cast<long long>(counts.wrong), static_cast<long long>(counts.unknown));
  if (counts.wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("ids that do not match their content: ", counts.wrong,
                                                    "; ask their senders; no other sender's rows are affected"));
}

class CheckCommand final : public cli::Command {
 public:
  CheckCommand()
      : Command({.name = "check",
                 .summary = "Check for damage and print counts; exit status 1 if something is wrong",
                 .examples = R"(  telemetry-collector check --db telemetry.db
  telemetry-collector check --db telemetry.db --identities
  telemetry-collector check --db telemetry.db --reseal
  telemetry-collector check --db postgresql://telemetry@db.example/telemetry
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("db", db_, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
    flags.Switch("identities", identities_,
                 "Instead recompute each run_id and config_id from its content, and print those that differ");
    flags
        .Switch("reseal", reseal_,
                "After another program changed a SQLite file: also seal pages that do not match their checksums, if "
                "integrity_check, foreign keys and acknowledged records are right. These checks do not detect a "
                "damaged value, so restore a backup if no program changed the file. No collector may serve the "
                "dataset")
        ->excludes("--identities");
  }

  absl::Status Check() override { return reseal_ ? CheckSqliteFile(db_) : absl::OkStatus(); }

  absl::StatusOr<int> Run() override {
    RETURN_IF_ERROR(identities_ ? CheckIdentities(db_) : CheckDamage());
    return cli::kExitDone;
  }

 private:
  // Prints the counts of the dataset and the damage found. Returns DATA_LOSS if there is damage.
  absl::Status CheckDamage() {
    ASSIGN_OR_RETURN(storage::upkeep::CheckReport report,
                     reseal_ ? storage::upkeep::ResealAndCheckDataset(db_) : storage::any::CheckDataset(db_));
    std::fputs(storage::upkeep::FormatReport(report).c_str(), stdout);
    return storage::upkeep::ReportStatus(report);
  }

  std::string db_;
  bool identities_ = false;
  bool reseal_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewCheck() { return cli::New<CheckCommand>(); }

}  // namespace telemetry::commands
