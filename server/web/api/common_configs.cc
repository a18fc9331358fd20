#include "server/web/api/common_configs.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "proto/base/status_macros.h"
#include "proto/statistics/samples.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/by_keys.h"
#include "server/web/rows/measured_config.h"

namespace telemetry::web::api {
namespace {

using rows::MeasuredConfig;

// The times of a config in several attempts.
struct ConfigMs {
  int64_t config = 0;
  std::vector<double> ms;
};

// Reads the ids of configs by their keys.
absl::StatusOr<absl::flat_hash_map<int64_t, int64_t>> ReadIds(const Call& call, const std::vector<int64_t>& keys) {
  absl::flat_hash_map<int64_t, int64_t> ids;
  RETURN_IF_ERROR(
      rows::ReadByKeys(call.dataset, "SELECT config, config_id FROM configs WHERE config", keys,
                       [&ids](const storage::sql::Statement& row) { ids.emplace(row.Int(0), row.Int(1)); }));
  return ids;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return statistics::Quantile(values, 0.5);
}

// Ranks the configs by their times in an item.
void RankBy(size_t item, std::vector<CommonConfig>* configs) {
  std::vector<size_t> order(configs->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const CommonConfig& left = (*configs)[a];
    const CommonConfig& right = (*configs)[b];
    return std::pair(left.ms[item], left.config_id) < std::pair(right.ms[item], right.config_id);
  });
  for (size_t i = 0; i < order.size(); ++i) (*configs)[order[i]].rank.push_back(static_cast<int64_t>(i) + 1);
}

}  // namespace

absl::StatusOr<ConfigTimes> ReadConfigTimes(const Call& call, const ComparisonItem& item, int64_t most_rows) {
  std::vector<storage::sql::AttemptKey> attempts;
  for (const ComparedAttempt& attempt : item.attempts) {
    if (static_cast<int64_t>(attempts.size()) < kMostAttempts) attempts.push_back(attempt.key);
  }
  ASSIGN_OR_RETURN(rows::MeasuredConfigs measured, rows::ReadMeasuredConfigs(call.dataset, attempts, most_rows));
  std::erase_if(measured.configs,
                [](const MeasuredConfig& row) { return !row.is_measured() || row.stage == rows::Stage::kScreening; });
  std::vector<int64_t> keys;
  for (const MeasuredConfig& row : measured.configs) keys.push_back(row.config);
  ASSIGN_OR_RETURN(const auto ids, ReadIds(call, keys));
  absl::flat_hash_map<int64_t, ConfigMs> times;
  for (const MeasuredConfig& row : measured.configs) {
    const auto id = ids.find(row.config);
    if (id == ids.end()) continue;
    times[id->second].config = row.config;
    times[id->second].ms.push_back(*row.perf_ms);
  }
  ConfigTimes medians;
  for (auto& [id, known] : times) medians[id] = {.config = known.config, .ms = Median(std::move(known.ms))};
  return medians;
}

std::vector<CommonConfig> FindCommonConfigs(const std::vector<ConfigTimes>& items) {
  std::vector<CommonConfig> common;
  for (const auto& [id, first] : items.front()) {
    CommonConfig config = {.config_id = id, .config = first.config, .ms = {}, .rank = {}};
    for (const ConfigTimes& times : items) {
      if (const auto found = times.find(id); found != times.end()) config.ms.push_back(found->second.ms);
    }
    if (config.ms.size() == items.size()) common.push_back(std::move(config));
  }
  for (size_t item = 0; item < items.size(); ++item) RankBy(item, &common);
  for (CommonConfig& config : common) {
    for (const int64_t rank : config.rank) {
      config.rank_change = std::max(config.rank_change, std::abs(rank - config.rank.front()));
    }
  }
  std::sort(common.begin(), common.end(), [](const CommonConfig& a, const CommonConfig& b) {
    return std::pair(-a.rank_change, a.rank.front()) < std::pair(-b.rank_change, b.rank.front());
  });
  return common;
}

}  // namespace telemetry::web::api
