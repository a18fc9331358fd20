#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/statistics/ratio.h"
#include "server/web/api/common_configs.h"
#include "server/web/api/comparison_item.h"
#include "server/web/api/row_details.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// A ratio of two items, other / baseline.
struct ItemRatio {
  std::optional<statistics::Ratio> ratio;  // nullopt: a time is not known
  // What the interval is computed from: samples, attempts, configs or shapes; none: there is no interval.
  std::string_view basis = "none";
};

// Returns the ratio of the best times: from the samples of the best rows, or else from the best times of the attempts.
absl::StatusOr<ItemRatio> BestRatio(RowDetailReader& details, const std::vector<ComparedAttempt>& baseline,
                                    const std::vector<ComparedAttempt>& other);
// Returns the ratio of the default times.
ItemRatio DefaultRatio(const std::vector<ComparedAttempt>& baseline, const std::vector<ComparedAttempt>& other);
// Returns the geometric mean of the ratios of the configs that both measured.
ItemRatio CommonRatio(const ConfigTimes& baseline, const ConfigTimes& other);
// Returns the geometric mean of the ratios of times at the same inputs.
ItemRatio InputRatio(const std::vector<std::optional<double>>& baseline,
                     const std::vector<std::optional<double>>& other);

void WriteRatio(json::JsonWriter& out, std::string_view key, const ItemRatio& ratio);

}  // namespace telemetry::web::api
