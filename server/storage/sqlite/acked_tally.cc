#include "server/storage/sqlite/acked_tally.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/wal_scan.h"

namespace telemetry::storage::sqlite {

absl::StatusOr<AckedTally> AckedTally::Open(SqliteDatabase& database, const std::string& path) {
  std::string dataset_id;
  {
    sql::Statement read(database, "SELECT dataset_id FROM dataset");
    RETURN_IF_ERROR(read.Step().status());
    dataset_id = read.Bytes(0);
  }
  ASSIGN_OR_RETURN(const std::string real_path, RealPath(path));
  ASSIGN_OR_RETURN(AckedMarkFile mark, AckedMarkFile::Open(real_path));
  ASSIGN_OR_RETURN(const int64_t records, database.QueryInt("SELECT coalesce(sum(committed_seq), 0) FROM producers"));
  ASSIGN_OR_RETURN(const uint32_t padding_frames, PaddingFrames(database));
  return AckedTally(std::move(mark), std::move(dataset_id), static_cast<uint64_t>(records), padding_frames);
}

AckedTally::AckedTally(AckedMarkFile mark, std::string dataset_id, uint64_t records, uint32_t padding_frames)
    : mark_(std::move(mark)), dataset_id_(std::move(dataset_id)), records_(records), padding_frames_(padding_frames) {}

absl::Status AckedTally::Add(SqliteDatabase& database, uint64_t records, int log_pages) {
  records_ += records;
  ASSIGN_OR_RETURN(const uint64_t salts, ReadWalSalts(database));
  const auto frames = static_cast<uint32_t>(log_pages);
  return mark_.Store({.dataset_id = dataset_id_,
                      .records = records_,
                      .log_salts = salts,
                      .log_frames = frames - std::min(frames, padding_frames_)});
}

}  // namespace telemetry::storage::sqlite
