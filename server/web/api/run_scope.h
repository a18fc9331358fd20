#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// The most attempts that the views of a run overlay, and the most rows that a call reads.
inline constexpr int64_t kMostAttempts = 50;
inline constexpr int64_t kMostRows = 200000;

// The runs and attempts that the path and the parameters `sender` and `attempt` of a call select.
struct RunScope {
  std::string run_id;
  std::vector<int64_t> runs;                       // keys; the one with the newest attempt first
  std::vector<storage::sql::AttemptKey> attempts;  // the newest first
  std::vector<std::string> attempt_ids;            // of `attempts`
  std::vector<std::string> labels;                 // of `attempts`: what tells them apart
  int64_t attempts_left_out = 0;
};

// NOT_FOUND: the dataset has no attempt of such a run.
absl::StatusOr<RunScope> FindRun(const Call& call);

// Returns true for 32 hex digits in lower case.
bool IsAttemptId(std::string_view text);

}  // namespace telemetry::web::api
