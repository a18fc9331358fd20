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

struct CopyOptions {
  // What --db takes: a SQLite file or postgresql://...
  std::string from;
  std::string to;
  // Rows of one transaction; an unfinished copy goes on behind the last one.
  int64_t rows_per_step = 10000;
  // Called with each transaction and each table: what is done, of which table, and how many rows of all went by.
  std::function<void(const char* what, const std::string& table, int64_t rows)> on_progress;
};

struct CopyReport {
  std::string dataset_id;                                 // in hex
  bool went_on = false;                                   // with what an earlier call had begun
  int64_t rows = 0;                                       // that this call copied
  std::vector<std::pair<std::string, TableHash>> tables;  // as they are in both places
  std::vector<ExportHash> files;                          // the same
};

// Makes `to` hold the same dataset as `from`, under the same dataset_id and with the same keys: producers go on there
// with what they were acknowledged. Repeated after any interruption, it goes on where it was; until it returns OK
// nobody else opens `to`. At the end each table and an export of both places are read again and must be the same.
//
// `from` is only read. It must not change from the first call to the end of the last, so no collector may serve it; a
// SQLite file is kept from them.
//
// ABORTED: it has changed, or another copy to the same place is under way. FAILED_PRECONDITION: `to` is not empty, or
// an unfinished copy of another dataset, or of this one as it was before. DATA_LOSS: the copy is not the same. Of these
// the message says what to do. ALREADY_EXISTS: a collector serves one of the files. Else the errors of both databases,
// of which UNAVAILABLE may pass.
absl::StatusOr<CopyReport> CopyDataset(const CopyOptions& options);

}  // namespace telemetry::copy
