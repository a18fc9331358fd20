#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/parameters.h"
#include "server/web/json/json_writer.h"
#include "server/web/server_state.h"

namespace telemetry::web::api {

// A call of the API, and the databases, each in a read transaction.
struct Call {
  const std::vector<std::string>& path;  // the variable segments of the path
  const Parameters& parameters;
  storage::sql::Database& dataset;
  storage::sql::Database& scratch;
  const ServerState& state;
};

// Writes the answer of a call as one JSON object. INVALID_ARGUMENT: a wrong parameter. NOT_FOUND: there is no such
// object.
using Answer = absl::Status (*)(const Call& call, json::JsonWriter& out);

// Returns a text that changes whenever the answer of a call may change.
using Stamp = absl::StatusOr<std::string> (*)(const Call& call);

// An endpoint of openapi.yaml.
struct Endpoint {
  std::string_view pattern;  // "runs/{}/rows": its path below /api/v1, with {} for a variable segment
  Answer answer;
  // The member of the answer that `format=csv` converts; empty: there is no CSV.
  std::string_view csv_member = "";
  bool is_paged = false;  // it has `limit` and `cursor`
  // Set if answers take long, and are therefore kept for the next client while the stamp is the same.
  Stamp stamp = nullptr;
};

// The limit of a page, and of a page of an export as CSV.
inline constexpr int64_t kUsualPage = 50;
inline constexpr int64_t kLargestPage = 500;

inline absl::StatusOr<int64_t> PageSize(const Call& call) {
  return call.parameters.Bounded("limit", kUsualPage, 1, kLargestPage);
}

// Calls `use` for each row of a bound statement.
template <typename Use>
absl::Status ForEachRow(storage::sql::Statement& bound, const Use& use) {
  while (true) {
    absl::StatusOr<bool> found = bound.Step();
    if (!found.ok() || !*found) return found.status();
    if (absl::Status status = use(); !status.ok()) {
      bound.Reset();
      return status;
    }
  }
}

}  // namespace telemetry::web::api
