#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// The number of records of all producers that the writer has stored, and the mark file beside the database that records
// this number. Not thread-safe.
class AckedTally {
 public:
  // Starts from the number of records that the database holds. Returns errors of AckedMarkFile and of the database.
  static absl::StatusOr<AckedTally> Open(SqliteDatabase& database, const std::string& path);

  const std::string& dataset_id() const { return dataset_id_; }

  // Records in the mark file that `records` more records may be acknowledged. The caller has committed them, and the
  // log has `log_pages` frames.
  absl::Status Add(SqliteDatabase& database, uint64_t records, int log_pages);

 private:
  AckedTally(AckedMarkFile mark, std::string dataset_id, uint64_t records, uint32_t padding_frames);

  AckedMarkFile mark_;
  std::string dataset_id_;
  uint64_t records_;
  uint32_t padding_frames_;  // the result of PaddingFrames()
};

}  // namespace telemetry::storage::sqlite
