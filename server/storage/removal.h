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
  // The runs of all senders with this run_id go, too, where they have no attempts. Empty: no such runs go.
  std::string empty_runs_of;

  bool empty() const { return keys.empty() && empty_runs_of.empty(); }
};

}  // namespace telemetry::storage
