#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/web/api/call.h"
#include "server/web/api/comparison_item.h"

namespace telemetry::web::api {

// Times of items at the inputs that all of them have.
struct CommonInputs {
  std::vector<InputKey> keys;                             // in the order of their labels
  std::vector<std::vector<const ComparedAttempt*>> best;  // by item and input: the attempt with the best time

  // Return the times of an item, by input.
  std::vector<std::optional<double>> BestTimes(size_t item) const;
  std::vector<std::optional<double>> DefaultTimes(size_t item) const;
};

// Removes the attempts at inputs that an item lacks. The result points into `items`.
absl::StatusOr<CommonInputs> KeepCommonInputs(const Call& call, std::vector<ComparisonItem>* items);

// Writes `shapes`.
absl::Status WriteInputs(const Call& call, const CommonInputs& inputs, json::JsonWriter& out);

}  // namespace telemetry::web::api
