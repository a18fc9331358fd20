#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/v1/deletion.pb.h"

namespace telemetry::storage {

// The attempts that one transaction is to remove.
struct Removal {
  std::vector<int64_t> keys;
  // attempts[i] describes keys[i].
  std::vector<v1::DeletedAttempt> attempts;
  // All runs with this run_id that have no attempts, of all senders, are removed too. Empty: no such runs are removed.
  std::string empty_runs_of;

  bool empty() const { return keys.empty() && empty_runs_of.empty(); }
};

}  // namespace telemetry::storage
