#pragma once

#include <cstdint>
#include <string>

#include "telemetry/v1/deletion.pb.h"

namespace telemetry::dataset {

// The caller of a deletion. `by` is the name of the token, or "local" if a command deletes from the database itself;
// the other fields are empty then.
struct Deleter {
  std::string by = "local";
  std::string token_id;
  std::string peer;
  std::string request_id;
};

// The number of objects that a deletion has removed.
struct DeletedCounts {
  uint64_t attempts = 0;
  uint64_t rows = 0;
  uint64_t runs = 0;

  void Add(const v1::DeleteStep& step);
};

// Writes the audit log line of a deletion that has ended. `reason`: why the deletion ended early; empty if it
// completed.
void LogDeletion(const Deleter& deleter, const v1::DeleteRequest& request, const DeletedCounts& counts,
                 const std::string& reason);

}  // namespace telemetry::dataset
