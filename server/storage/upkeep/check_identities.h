#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage {

// An id that is not the one of the content stored under it.
struct WrongIdentity {
  std::string what;  // "run_id" or "config_id"
  std::string id;
  std::string expected;  // what the content's id is
  std::string sender;    // the name under which it came; empty: none
};

// Numbers of ids that were compared with their content.
struct IdentityCounts {
  int64_t right = 0;
  int64_t wrong = 0;
  int64_t unknown = 0;  // the content is incomplete, or its formula is not known
};

// Recomputes the run_id and config_id of every stored run and config (proto/record/identity.h) and reports those that
// are wrong, one by one. Reads page by page, so that writers are not held up.
absl::StatusOr<IdentityCounts> CheckIdentities(Database& database,
                                               absl::FunctionRef<void(const WrongIdentity&)> on_wrong);

}  // namespace telemetry::storage
