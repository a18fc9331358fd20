#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/copy/export_hash.h"
#include "server/copy/table_hash.h"

namespace telemetry::copy {

// The settings of a copy.
struct CopyOptions {
  // Source and target in the form of --db: a SQLite file or postgresql://...
  std::string from;
  std::string to;
  // Rows per transaction. A repeated call resumes an unfinished copy after its last transaction.
  int64_t rows_per_step = 10000;
  // Called after each transaction and each table with the current step, its table and the number of rows of all tables
  // so far.
  std::function<void(const char* what, const std::string& table, int64_t rows)> on_progress;
};

// The result of a copy.
struct CopyReport {
  std::string dataset_id;                                 // in hex digits
  bool went_on = false;                                   // the call resumed an unfinished copy
  int64_t rows = 0;                                       // rows that this call copied
  std::vector<std::pair<std::string, TableHash>> tables;  // equal in both places
  std::vector<ExportHash> files;                          // equal in both places
};

// Copies the dataset of `from` to `to`, with the same dataset_id and the same keys, so that producers continue there
// after their last acknowledgement. After an interruption, a repeated call resumes the copy. Until a call returns OK,
// no other program can open `to`. At the end, the function reads each table and an export of both places again and
// requires them to be equal.
//
// `from` is only read. It must not change from the first call to the end of the last one, so no collector may serve it.
// A SQLite file is locked against collectors.
//
// Errors: ABORTED if `from` has changed, or if another copy to the same place is running. FAILED_PRECONDITION if `to`
// is not empty, or is an unfinished copy of another dataset or of an earlier state of this one. DATA_LOSS if the copy
// differs. The messages of these three contain the remedy. ALREADY_EXISTS if a collector serves one of the files. Else
// the errors of both databases, of which UNAVAILABLE may be temporary.
absl::StatusOr<CopyReport> CopyDataset(const CopyOptions& options);

}  // namespace telemetry::copy
