#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/attempt_key.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// The inputs of a run: keys of texts of the summaries. The device is 0 where devices are compared.
struct InputKey {
  int64_t shapes = 0;
  int64_t dtypes = 0;
  int64_t hardware = 0;

  friend bool operator==(const InputKey&, const InputKey&) = default;
  friend bool operator<(const InputKey& a, const InputKey& b) {
    return std::tie(a.shapes, a.dtypes, a.hardware) < std::tie(b.shapes, b.dtypes, b.hardware);
  }
};

// An attempt of an item, as the summaries have it.
struct ComparedAttempt {
  storage::sql::AttemptKey key;
  std::string run_id;
  InputKey input;
  int64_t rows = 0;
  int64_t best_rank = 0;
  int64_t best_seq = 0;
  std::optional<double> best_ms;
  std::string best_config_id;
  std::optional<double> default_ms;
};

// An item of a comparison.
struct ComparisonItem {
  std::string text;  // as in the request
  std::string kind;  // run, attempt, device or version
  std::string label;
  std::vector<ComparedAttempt> attempts;  // the newest first

  // Runs and attempts are compared whatever their inputs are, devices and versions over the inputs of all of them.
  bool has_inputs() const { return kind == "device" || kind == "version"; }
};

// Reads the items that the parameters of a call select. INVALID_ARGUMENT: a wrong item, or items that cannot be
// compared. NOT_FOUND: the dataset has no attempt of an item.
absl::StatusOr<std::vector<ComparisonItem>> ReadComparisonItems(const Call& call);

// Returns the stamp (stamp.h) of the attempts of these items.
absl::StatusOr<std::string> StampOfItems(const Call& call);

// Returns the attempt with the best time, or nullptr if none has a time.
const ComparedAttempt* BestOf(const std::vector<ComparedAttempt>& attempts);

}  // namespace telemetry::web::api
