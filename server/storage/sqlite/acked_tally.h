#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/acked_mark.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// How many records of all producers the writer has stored, and the mark that says so beside its database. One thread.
class AckedTally {
 public:
  // Begins with what the database holds. Errors: AckedMarkFile's, and the database's.
  static absl::StatusOr<AckedTally> Open(SqliteDatabase& database, const std::string& path);

  const std::string& dataset_id() const { return dataset_id_; }

  // Writes down that so many more may be acknowledged: they are committed, and the log has `log_pages` frames.
  absl::Status Add(SqliteDatabase& database, uint64_t records, int log_pages);

 private:
  AckedTally(AckedMarkFile mark, std::string dataset_id, uint64_t records, uint32_t padding_frames);

  AckedMarkFile mark_;
  std::string dataset_id_;
  uint64_t records_;
  uint32_t padding_frames_;  // PaddingFrames
};

}  // namespace telemetry::storage
