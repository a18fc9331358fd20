#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Table rejects. Part of the writer: one thread, inside its transaction.
class RejectTable {
 public:
  explicit RejectTable(Database& database);

  // Stores the reject, unless an equal one is there, whoever sent that.
  absl::Status Store(const v1::Reject& reject, const std::string& producer_id, int64_t now_unix_us);

 private:
  Statement insert_;
};

}  // namespace telemetry::storage
