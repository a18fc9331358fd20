#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// Reads the details of measurements (table measurement_details). Part of a reader: used by one thread, inside the
// caller's transaction.
class DetailReader {
 public:
  explicit DetailReader(sql::Database& database);

  absl::StatusOr<bool> HasDetails(const sql::AttemptKey& key);
  // Reads the details of the rows of one page, in their order, up to the first one that reaches `most_bytes`. If that
  // cuts the page, removes the remaining rows from the page and returns true. Leaves attempt_id empty.
  absl::StatusOr<bool> Read(const sql::AttemptKey& key, size_t most_bytes,
                            google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                            google::protobuf::RepeatedPtrField<v1::MeasurementDetail>* details);

 private:
  sql::Statement has_details_;
  sql::Statement read_;
};

}  // namespace telemetry::storage::readers
