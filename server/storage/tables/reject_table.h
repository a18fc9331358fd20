#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The table rejects. Part of the writer: used by one thread, inside the writer's transaction.
class RejectTable {
 public:
  explicit RejectTable(sql::Database& database);

  // Stores the reject unless an equal one is stored, from any sender.
  absl::Status Store(const v1::Reject& reject, const std::string& producer_id, int64_t now_unix_us);

 private:
  sql::Statement insert_;
};

}  // namespace telemetry::storage::tables
