#include "server/storage/upkeep/check.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/postgresql/content_check.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/acked_check.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/content_check.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/reseal.h"

namespace telemetry::storage::upkeep {
namespace {

constexpr const char* kCounted[] = {"kernels",        "runs",         "attempts",      "configs",
                                    "run_configs",    "measurements", "source_hashes", "measurement_details",
                                    "attempt_events", "ir_graphs",    "ir_nodes",      "ir_edges",
                                    "rejects",        "producers",    "senders"};

// Checks each page and the log as they are stored on disk. SQLite's own check finds neither a flipped bit inside a
// value nor frames that the log lost.
absl::Status CheckBytes(sqlite::SqliteDatabase& database, const std::optional<sqlite::AckedMark>& mark,
                        CheckReport* report) {
  ASSIGN_OR_RETURN(sqlite::AckedCheck acked, sqlite::CheckAcked(database, mark));
  for (std::string& damage : acked.damage) report->damage.push_back(std::move(damage));
  ASSIGN_OR_RETURN(sqlite::PageScan scan, sqlite::ScanPages(database, acked.log.pages));
  report->counts.emplace_back("pages", scan.pages);
  for (std::string& damage : scan.damage) report->damage.push_back(std::move(damage));
  constexpr char kNext[] = ": the next telemetry-collector serve or migrate seals them";
  if (!scan.logged.empty()) {
    report->notes.push_back(absl::StrCat(
        scan.logged.size(), " pages match their recorded checksums; another program moved them from the log", kNext));
  }
  if (!scan.foreign.empty()) {
    report->notes.push_back(absl::StrCat(scan.foreign.size(),
                                         " pages have no checksum, since another program wrote them, so a flipped bit "
                                         "in a value is not found in them",
                                         kNext));
  }
  if (!scan.checked) {
    report->notes.emplace_back(
        "the pages have no checksums, so a flipped bit in a value is not found: telemetry-collector migrate adds them");
  }
  return absl::OkStatus();
}

absl::Status CheckDatasetId(sql::Database& database, CheckReport* report) {
  absl::StatusOr<int64_t> ids = database.QueryInt("SELECT count(*) FROM dataset");
  if (ids.ok() && *ids != 1) report->damage.push_back(absl::StrCat("table dataset has ", *ids, " rows instead of 1"));
  return ids.status();
}

absl::Status Count(sql::Database& database, CheckReport* report) {
  for (const char* table : kCounted) {
    // The names come from the list above, so they need no escaping.
    ASSIGN_OR_RETURN(int64_t count, database.QueryInt(absl::StrCat("SELECT count(*) FROM ", table).c_str()));
    report->counts.emplace_back(table, count);
  }
  return absl::OkStatus();
}

absl::Status NoteGaps(sql::Database& database, CheckReport* report) {
  ASSIGN_OR_RETURN(const int64_t attempts,
                   database.QueryInt("SELECT count(*) FROM (SELECT 1 FROM measurements GROUP BY attempt "
                                     "HAVING max(seq) - min(seq) >= count(*)) AS with_gaps"));
  if (attempts > 0) {
    report->notes.push_back(absl::StrCat(attempts,
                                         " attempts have gaps in the sequence numbers of their measurements; "
                                         "refused records leave such gaps"));
  }
  return absl::OkStatus();
}

absl::Status CheckLongFailures(sql::Database& database, CheckReport* report) {
  ASSIGN_OR_RETURN(
      const int64_t missing,
      database.QueryInt("SELECT count(*) FROM measurements AS m WHERE failure = '' AND NOT EXISTS "
                        "(SELECT 1 FROM long_failures AS f WHERE f.attempt = m.attempt AND f.seq = m.seq)"));
  if (missing > 0) {
    report->damage.push_back(absl::StrCat(missing, " rows of measurements have no failure in long_failures"));
  }
  return absl::OkStatus();
}

// Examines the tables of either kind of database.
void CheckTables(sql::Database& database, CheckReport* report) {
  std::vector<absl::Status (*)(sql::Database&, CheckReport*)> parts = {&CheckDatasetId, &Count, &NoteGaps};
  if (database.has_long_failures()) parts.push_back(&CheckLongFailures);
  for (auto* part : parts) {
    // In a dataset that could be opened, a query that fails is damage, too.
    absl::Status status = part(database, report);
    if (!status.ok()) report->damage.emplace_back(status.message());
  }
}

}  // namespace

absl::StatusOr<CheckReport> CheckDataset(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string real_path, sqlite::RealPath(path));
  CheckReport report;
  report.remedy +=
      ". If another program changed the pages whose checksums do not match: telemetry-collector check --reseal";
  const absl::StatusOr<std::optional<sqlite::AckedMark>> mark = sqlite::AckedMarkFile::Read(real_path);
  if (!mark.ok()) report.damage.emplace_back(mark.status().message());
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database,
                   sqlite::OpenDatasetForReading(path, {.vfs = {}, .check_acked = false, .verify_foreign = false}));
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(database));
  // The transaction begins with its first read.
  RETURN_IF_ERROR(database.QueryInt("SELECT count(*) FROM sqlite_schema").status());
  if (absl::Status status = CheckBytes(database, mark.ok() ? *mark : std::nullopt, &report); !status.ok()) {
    report.damage.emplace_back(status.message());
  }
  for (std::string& damage : sqlite::CheckContent(database)) report.damage.push_back(std::move(damage));
  CheckTables(database, &report);
  return report;
}

absl::StatusOr<CheckReport> CheckPgDataset(const std::string& url) {
  ASSIGN_OR_RETURN(const std::unique_ptr<postgresql::PgDatabase> database, postgresql::OpenDatasetForReading(url));
  ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database));
  CheckReport report;
  report.damage = postgresql::CheckContent(*database);
  CheckTables(*database, &report);
  ASSIGN_OR_RETURN(const bool has_checksums, postgresql::HasDataChecksums(*database));
  if (!has_checksums) {
    report.notes.emplace_back(
        "the server's pages have no checksums, so a flipped bit in a value is not found: stop the server and run "
        "pg_checksums --enable");
  }
  report.notes.emplace_back("the structure of the indexes was not read: pg_amcheck --heapallindexed reads it");
  return report;
}

absl::StatusOr<CheckReport> ResealAndCheckDataset(const std::string& path) {
  sqlite::PageScan before;
  ASSIGN_OR_RETURN(const sqlite::ResealReport resealed, sqlite::ResealDataset(path, &before));
  ASSIGN_OR_RETURN(CheckReport report, CheckDataset(path));
  for (const std::string& damage : before.damage) report.notes.push_back(absl::StrCat("sealed again: ", damage));
  report.notes.push_back(sqlite::DescribeReseal(resealed));
  return report;
}

std::string FormatReport(const CheckReport& report) {
  std::string text;
  for (const auto& [what, count] : report.counts) absl::StrAppend(&text, what, ": ", count, "\n");
  for (const std::string& damage : report.damage) absl::StrAppend(&text, "DAMAGED: ", damage, "\n");
  for (const std::string& note : report.notes) absl::StrAppend(&text, "note: ", note, "\n");
  if (report.damage.empty()) text += "no damage found\n";
  return text;
}

absl::Status ReportStatus(const CheckReport& report) {
  if (report.damage.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(report.damage.size(), " kinds of damage: ", report.remedy));
}

}  // namespace telemetry::storage::upkeep
