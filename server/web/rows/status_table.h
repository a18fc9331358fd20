#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web::rows {

// The meaning of a status for a config. kNoResult: the config has started, or was not measured.
enum class StatusKind { kOk, kFailed, kNoResult };

// The names of the statuses by their key. Part of a reader: used by one thread.
class StatusTable {
 public:
  explicit StatusTable(storage::sql::Database& dataset)
      : read_(dataset,
              "SELECT status, substr(name, 1, 400) FROM statuses WHERE status > ?1 ORDER BY status LIMIT 10000") {}

  // Reads statuses that are new since the last call, in the caller's transaction.
  absl::Status Refresh();
  // Return the name and the kind of a status. An unknown key is a failure with its number as the name.
  std::string Name(int64_t status) const;
  StatusKind Kind(int64_t status) const;

 private:
  struct Entry {
    std::string name;
    StatusKind kind = StatusKind::kFailed;
  };
  const Entry* Find(int64_t status) const;

  storage::sql::Statement read_;
  std::vector<Entry> entries_;  // by key; keys are small
  int64_t last_ = 0;
};

}  // namespace telemetry::web::rows
