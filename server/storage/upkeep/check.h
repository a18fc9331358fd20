#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage::upkeep {

// The result of `telemetry-collector check`.
struct CheckReport {
  std::string remedy = "stop the collector and restore a backup; producers resend the records that they still hold";
  std::vector<std::pair<std::string, int64_t>> counts;  // name and number of the objects counted
  std::vector<std::string> damage;                      // for people; empty: none
  std::vector<std::string> notes;                       // parts that could not be checked
};

// Reads the complete dataset: each page of its file and of its write-ahead log. May run while a collector serves the
// dataset. Returns errors of OpenSqliteReader if the dataset could not be read at all.
absl::StatusOr<CheckReport> CheckDataset(const std::string& path);

// Reads the complete dataset on a PostgreSQL server, in one transaction, also while collectors serve it. The server
// itself checks its pages if they have checksums. Returns errors of OpenPostgresqlReader.
absl::StatusOr<CheckReport> CheckPgDataset(const std::string& url);

// Seals all pages of the file on its owner's request (ResealDataset), then checks the dataset. The notes of the report
// list the pages and the checks that they passed. Returns errors of OpenSqliteWriter; nothing was changed then.
absl::StatusOr<CheckReport> ResealAndCheckDataset(const std::string& path);

// Formats the report: one line per count, then one per damage, then one per note.
std::string FormatReport(const CheckReport& report);

// Returns DATA_LOSS if the report contains damage.
absl::Status ReportStatus(const CheckReport& report);

}  // namespace telemetry::storage::upkeep
