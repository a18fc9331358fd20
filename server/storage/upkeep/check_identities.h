#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"

namespace telemetry::storage::upkeep {

// A stored id that differs from the id computed from its content.
struct WrongIdentity {
  std::string what;  // "run_id" or "config_id"
  std::string id;
  std::string expected;  // the id computed from the content
  std::string sender;    // the name of the sender; empty: none
};

// The numbers of ids that were compared with their content.
struct IdentityCounts {
  int64_t right = 0;
  int64_t wrong = 0;
  int64_t unknown = 0;  // the content is incomplete, or the formula is not known
};

// Recomputes the run_id and config_id of every stored run and config (proto/record/identity.h) and calls `on_wrong` for
// each that differs. Reads page by page, so that writers are not delayed.
absl::StatusOr<IdentityCounts> CheckIdentities(sql::Database& database,
                                               absl::FunctionRef<void(const WrongIdentity&)> on_wrong);

}  // namespace telemetry::storage::upkeep
