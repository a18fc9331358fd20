#include "server/commands/maintenance_commands.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "server/storage/any/any_store.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/upkeep/backup.h"
#include "server/storage/upkeep/check.h"
#include "server/storage/upkeep/check_identities.h"
#include "server/storage/upkeep/prune.h"
#include "server/storage/upkeep/restore.h"

namespace telemetry::collector {

namespace {

using record::Counted;

absl::Status CheckIdentities(const std::string& db) {
  ASSIGN_OR_RETURN(const std::unique_ptr<storage::Database> database, storage::OpenDatabaseForReading(db));
  ASSIGN_OR_RETURN(const storage::IdentityCounts counts,
                   storage::CheckIdentities(*database, [](const storage::WrongIdentity& wrong) {
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

}  // namespace

absl::Status Check(const CommandLine& line) {
  if (line.identities) return CheckIdentities(line.db);
  ASSIGN_OR_RETURN(storage::CheckReport report,
                   line.reseal ? storage::ResealAndCheckDataset(line.db) : storage::CheckDataset(line.db));
  std::fputs(storage::FormatReport(report).c_str(), stdout);
  return storage::ReportStatus(report);
}

absl::Status Backup(const CommandLine& line) {
  RETURN_IF_ERROR(storage::BackUpDataset(line.db, line.to));
  std::printf("%s: copied to %s\n", line.db.c_str(), line.to.c_str());
  return absl::OkStatus();
}

absl::Status Restore(const CommandLine& line) {
  ASSIGN_OR_RETURN(const storage::RestoreReport report, storage::RestoreDataset(line.from, line.to, absl::Now()));
  std::printf("%s: restored from %s, with %s\n", line.to.c_str(), line.from.c_str(),
              Counted(report.records, "acknowledged record").c_str());
  if (!report.kept.empty()) std::printf("the replaced dataset is kept as %s\n", report.kept.c_str());
  if (report.missing_records > 0) {
    std::printf(
        "acknowledged after the backup and missing from it: %s; producers do not resend them; forward their sidecar "
        "files again where they are kept\n",
        Counted(report.missing_records, "record").c_str());
  }
  return absl::OkStatus();
}

absl::Status Prune(const CommandLine& line) {
  ASSIGN_OR_RETURN(
      const storage::PruneReport report,
      storage::PruneDataset(line.db, {.rules = line.prune.rules,
                                      .trusted_now = line.prune.trust_clock ? std::optional(absl::Now()) : std::nullopt,
                                      .dry_run = line.prune.dry_run}));
  const char* const verb = line.prune.dry_run ? "would remove" : "removed";
  int64_t rows = 0;
  for (const storage::PrunedAttempt& attempt : report.attempts) {
    rows += attempt.rows;
    std::printf(
        "%s attempt %s of %s, run %.12s..., arrived %s, %s\n", verb, attempt.attempt_id.c_str(),
        attempt.kernel_name.c_str(), attempt.run_id.c_str(),
        absl::FormatTime("%Y-%m-%d", absl::FromUnixMicros(attempt.first_received_unix_us), absl::UTCTimeZone()).c_str(),
        Counted(attempt.rows, "row").c_str());
  }
  std::printf("%s %s, %s, %s; in use: %lld bytes before, %lld after\n", verb,
              Counted(report.attempts.size(), "attempt").c_str(), Counted(rows, "row").c_str(),
              Counted(report.rejects, "reject").c_str(), static_cast<long long>(report.bytes_before),
              static_cast<long long>(report.bytes_after));
  if (line.prune.rules.keep_age != absl::InfiniteDuration() && !line.prune.trust_clock) {
    std::printf(
        "ages count only while a collector serves the dataset, %.1f days so far; --trust-clock uses the clock "
        "instead\n",
        absl::ToDoubleHours(report.served) / 24);
  }
  return absl::OkStatus();
}

absl::Status MigrateDataset(const CommandLine& line) {
  const bool is_file = !storage::IsPostgresqlUrl(line.db);
  RETURN_IF_ERROR(is_file ? storage::RequireFile(line.db) : absl::OkStatus());
  // Opening a dataset for writing migrates its schema.
  const storage::WriterOptions options = {.on_reseal = [&line](const storage::ResealReport& report) {
    std::printf("%s: %s\n", line.db.c_str(), storage::DescribeReseal(report).c_str());
  }};
  RETURN_IF_ERROR(storage::OpenWriter(line.db, options).status());
  if (!is_file) {
    std::printf("%s: up to date\n", storage::WithoutPasswords(line.db).c_str());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool added, storage::AddPageChecksums(line.db));
  std::printf("%s: up to date%s\n", line.db.c_str(), added ? ", and its pages have checksums now" : "");
  return absl::OkStatus();
}

}  // namespace telemetry::collector
