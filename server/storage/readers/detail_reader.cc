#include "server/storage/readers/detail_reader.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/detail_columns.h"

namespace telemetry::storage::readers {

DetailReader::DetailReader(sql::Database& database)
    : has_details_(
          database,
          {.text = "SELECT EXISTS (SELECT 1 FROM measurement_details", .key = sql::kInRun, .where = "attempt = ?1)"}),
      read_(database,
            {.text = absl::StrCat("SELECT seq, ", sql::DetailColumnNames(), " FROM measurement_details").c_str(),
             .key = sql::kInRun,
             .where = "attempt = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq"}) {}

absl::StatusOr<bool> DetailReader::HasDetails(const sql::AttemptKey& key) {
  RETURN_IF_ERROR(has_details_.Bind(sql::InRun{key.run}, key.attempt).Step().status());
  const bool has = has_details_.Int(0) != 0;
  has_details_.Reset();
  return has;
}

absl::StatusOr<bool> DetailReader::Read(const sql::AttemptKey& key, size_t most_bytes,
                                        google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                                        google::protobuf::RepeatedPtrField<v1::MeasurementDetail>* details) {
  if (rows->empty()) return false;
  read_.Bind(sql::InRun{key.run}, key.attempt, rows->begin()->seq(), rows->rbegin()->seq());
  int row = 0;
  size_t bytes = 0;
  while (bytes < most_bytes) {
    absl::StatusOr<bool> found = read_.Step();
    if (!found.ok() || !*found) return found;
    const auto seq = static_cast<uint64_t>(read_.Int(0));
    while (rows->Get(row).seq() < seq) ++row;
    if (rows->Get(row).seq() != seq) continue;  // its row is not on this page
    v1::MeasurementDetail* detail = details->Add();
    detail->set_seq(seq);
    RETURN_IF_ERROR(sql::FillDetail(read_, 1, detail));
    bytes += detail->ByteSizeLong();
  }
  read_.Reset();
  const int kept = row + 1;
  const bool shortened = kept < rows->size();
  rows->DeleteSubrange(kept, rows->size() - kept);
  return shortened;
}

}  // namespace telemetry::storage::readers
