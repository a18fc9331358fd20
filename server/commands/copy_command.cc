#include <cstdio>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "server/commands/commands.h"
#include "server/copy/copy_dataset.h"
#include "server/storage/any/any_store.h"

namespace telemetry::commands {
namespace {

// Prints a progress line on stderr at most every 5 s.
class CopyLog {
 public:
  void Say(const std::string& what, const std::string& table, int64_t rows) {
    if (what == "copied") copied_at_ = absl::Now();
    if (absl::Now() - said_at_ < absl::Seconds(5)) return;
    said_at_ = absl::Now();
    std::fprintf(stderr, "telemetry-collector: %s %s, at %s\n", what.c_str(), record::Counted(rows, "row").c_str(),
                 table.c_str());
  }

  // The time at which the last row was copied.
  absl::Time copied_at() const { return copied_at_; }

 private:
  absl::Time said_at_ = absl::Now();
  absl::Time copied_at_ = absl::Now();
};

class CopyCommand final : public cli::Command {
 public:
  CopyCommand()
      : Command({.name = "copy",
                 .summary = "Copy the dataset to another SQLite file or PostgreSQL database and compare both; after an "
                            "interruption, run it again to resume; no collector may serve either",
                 .examples = "  telemetry-collector copy --from telemetry.db --to "
                             "postgresql://telemetry@db.example/telemetry\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("from", from_, "The dataset to read: a SQLite file, or postgresql://USER@HOST/DATABASE");
    flags.File("to", to_,
               "The copy: a SQLite file that does not exist, or an empty database postgresql://USER@HOST/DATABASE");
  }

  // Prints the number of rows and the hash of each table.
  absl::StatusOr<int> Run() override {
    CopyLog log;
    const absl::Time began = absl::Now();
    ASSIGN_OR_RETURN(
        const copy::CopyReport report,
        copy::CopyDataset(
            {.from = from_, .to = to_, .on_progress = [&log](const char* what, const std::string& table, int64_t rows) {
               log.Say(what, table, rows);
             }}));
    for (const auto& [table, hash] : report.tables) {
      std::printf("%-20s %17s  %s\n", table.c_str(), record::Counted(hash.rows, "row").c_str(),
                  hash.sha256_hex.c_str());
    }
    for (const copy::ExportHash& file : report.files) {
      std::printf("export %-30s %s\n", file.suffix.c_str(), file.sha256_hex.c_str());
    }
    std::printf("%s copied%s in %.1f s; all verified in %.1f s\n", record::Counted(report.rows, "row").c_str(),
                report.went_on ? " in addition to the rows copied before" : "",
                absl::ToDoubleSeconds(log.copied_at() - began), absl::ToDoubleSeconds(absl::Now() - log.copied_at()));
    std::printf("%s: dataset %s, the same as in %s\n", storage::any::WithoutPasswords(to_).c_str(),
                report.dataset_id.c_str(), storage::any::WithoutPasswords(from_).c_str());
    return cli::kExitDone;
  }

 private:
  std::string from_;
  std::string to_;
};

}  // namespace

std::unique_ptr<cli::Command> NewCopy() { return cli::New<CopyCommand>(); }

}  // namespace telemetry::commands
