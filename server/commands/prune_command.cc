#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "server/commands/commands.h"
#include "server/commands/retention_flags.h"
#include "server/storage/any/any_upkeep.h"

namespace telemetry::commands {
namespace {

class PruneCommand final : public cli::Command {
 public:
  PruneCommand()
      : Command(
            {.name = "prune",
             .summary = "Remove old attempts by age or size; no collector may serve a SQLite file meanwhile",
             .examples = R"(  telemetry-collector prune --db telemetry.db --keep-age 180d --keep-bytes 20GiB --dry-run
  telemetry-collector prune --db postgresql://telemetry@db.example/telemetry --keep-age 180d
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.File("db", db_, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
    keep_ = AddRetentionFlags(flags, rules_);
    CLI::App& command = flags.command();
    command.add_flag("--also-only-attempts", rules_.also_only_attempts,
                     "Also remove the newest attempt of a run, and the run with it");
    command.add_flag("--trust-clock", trust_clock_,
                     "Compute ages from arrival times; requires a clock that has always been right");
    command.add_flag("--dry-run", dry_run_, "Print what would be removed; works while a collector serves the dataset");
  }

  absl::Status Check() override {
    if (keep_.age->count() + keep_.bytes->count() + keep_.rejects->count() > 0) return absl::OkStatus();
    return absl::InvalidArgumentError("prune needs a rule: give --keep-age, --keep-bytes or --keep-rejects-bytes");
  }

  // Prints the attempts that it removes.
  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(
        const storage::upkeep::PruneReport report,
        storage::any::PruneDataset(db_, {.rules = rules_,
                                         .trusted_now = trust_clock_ ? std::optional(absl::Now()) : std::nullopt,
                                         .dry_run = dry_run_}));
    const char* const verb = dry_run_ ? "would remove" : "removed";
    int64_t rows = 0;
    for (const storage::PrunedAttempt& attempt : report.attempts) {
      rows += attempt.rows;
      std::printf(
          "%s attempt %s of %s, run %.12s..., arrived %s, %s\n", verb, attempt.attempt_id.c_str(),
          attempt.kernel_name.c_str(), attempt.run_id.c_str(),
          absl::FormatTime("%Y-%m-%d", absl::FromUnixMicros(attempt.first_received_unix_us), absl::UTCTimeZone())
              .c_str(),
          record::Counted(attempt.rows, "row").c_str());
    }
    std::printf("%s %s, %s, %s; in use: %lld bytes before, %lld after\n", verb,
                record::Counted(report.attempts.size(), "attempt").c_str(), record::Counted(rows, "row").c_str(),
                record::Counted(report.rejects, "reject").c_str(), static_cast<long long>(report.bytes_before),
                static_cast<long long>(report.bytes_after));
    if (rules_.keep_age != absl::InfiniteDuration() && !trust_clock_) {
      std::printf(
          "ages count only while a collector serves the dataset, %.1f days so far; --trust-clock uses the clock "
          "instead\n",
          absl::ToDoubleHours(report.served) / 24);
    }
    return cli::kExitDone;
  }

 private:
  std::string db_;
  storage::PruneRules rules_;
  RetentionOptions keep_ = {};
  bool trust_clock_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewPrune() { return cli::New<PruneCommand>(); }

}  // namespace telemetry::commands
