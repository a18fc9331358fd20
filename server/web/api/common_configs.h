#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/web/api/call.h"
#include "server/web/api/comparison_item.h"

namespace telemetry::web::api {

// The times of the configs that an item measured, by config_id. A config that several attempts measured has the median.
struct ConfigTime {
  int64_t config = 0;  // a key of the config
  double ms = 0;
};
using ConfigTimes = absl::flat_hash_map<int64_t, ConfigTime>;

// Reads the times of the newest attempts of an item, from at most `most_rows` rows.
absl::StatusOr<ConfigTimes> ReadConfigTimes(const Call& call, const ComparisonItem& item, int64_t most_rows);

// A config that all items measured.
struct CommonConfig {
  int64_t config_id = 0;
  int64_t config = 0;         // a key of the config
  std::vector<double> ms;     // by item
  std::vector<int64_t> rank;  // by item: from 1, among the common configs
  int64_t rank_change = 0;    // the largest difference to the rank in the first item
};

// Returns the common configs, those whose rank changed most first.
std::vector<CommonConfig> FindCommonConfigs(const std::vector<ConfigTimes>& items);

}  // namespace telemetry::web::api
