#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage {

// What `telemetry-collector check` finds.
struct CheckReport {
  std::vector<std::pair<std::string, int64_t>> counts;  // what, how many
  std::vector<std::string> damage;                      // for a person; empty: none
  std::vector<std::string> notes;                       // what could not be checked
};

// Reads the whole dataset, each page of its file and its write-ahead log, also while a collector serves it. Errors as
// OpenSqliteReader: it could not be read at all.
absl::StatusOr<CheckReport> CheckDataset(const std::string& path);

// Seals all pages of the file on its owner's word (ResealDataset), then checks the dataset. The notes of the report
// list the pages and the checks that they passed. Errors as OpenSqliteWriter: nothing was changed.
absl::StatusOr<CheckReport> ResealAndCheckDataset(const std::string& path);

// A line per count, then a line per damage and per note.
std::string FormatReport(const CheckReport& report);

// DATA_LOSS: there is damage.
absl::Status ReportStatus(const CheckReport& report);

}  // namespace telemetry::storage
