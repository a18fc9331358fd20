#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/attempt_key.h"
#include "server/storage/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// Reads what is known of measurements beyond their rows. Part of a reader: one thread, inside the caller's transaction.
class DetailReader {
 public:
  explicit DetailReader(Database& database);

  absl::StatusOr<bool> HasDetails(const AttemptKey& key);
  // The details of rows of one page, in their order. attempt_id is left empty.
  absl::Status Read(const AttemptKey& key, const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                    google::protobuf::RepeatedPtrField<v1::MeasurementDetail>* details);

 private:
  Statement has_details_;
  Statement read_;
};

}  // namespace telemetry::storage
