#include <cstdio>
#include <memory>
#include <string>

#include "proto/base/status_macros.h"
#include "server/commands/commands.h"
#include "server/storage/any/any_store.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"

namespace telemetry::commands {
namespace {

class MigrateCommand final : public cli::Command {
 public:
  MigrateCommand()
      : Command({.name = "migrate",
                 .summary = "Migrate the dataset to this program's schema (serve does so too) and add page checksums",
                 .examples = "  telemetry-collector migrate --db telemetry.db\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("db", db_, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
  }

  absl::StatusOr<int> Run() override {
    const bool is_file = !storage::any::IsPostgresqlUrl(db_);
    RETURN_IF_ERROR(is_file ? storage::sqlite::RequireFile(db_) : absl::OkStatus());
    // Opening a dataset for writing migrates its schema.
    const storage::sqlite::WriterOptions options = {.on_reseal = [this](const storage::sqlite::ResealReport& report) {
      std::printf("%s: %s\n", db_.c_str(), storage::sqlite::DescribeReseal(report).c_str());
    }};
    RETURN_IF_ERROR(storage::any::OpenWriter(db_, options).status());
    if (!is_file) {
      std::printf("%s: up to date\n", storage::any::WithoutPasswords(db_).c_str());
      return cli::kExitDone;
    }
    ASSIGN_OR_RETURN(const bool added, storage::sqlite::AddPageChecksums(db_));
    std::printf("%s: up to date%s\n", db_.c_str(), added ? ", and its pages have checksums now" : "");
    return cli::kExitDone;
  }

 private:
  std::string db_;
};

}  // namespace

std::unique_ptr<cli::Command> NewMigrate() { return cli::New<MigrateCommand>(); }

}  // namespace telemetry::commands
