#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/web/api/common_configs.h"
#include "server/web/api/common_inputs.h"
#include "server/web/api/comparison_item.h"
#include "server/web/api/comparison_ratio.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/run_scope.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;

// The items of a call, with their times.
struct Comparison {
  std::vector<ComparisonItem> items;
  CommonInputs inputs;             // of devices and versions
  std::vector<ConfigTimes> times;  // by item; empty if the items have several inputs

  bool has_several_inputs() const { return items.front().has_inputs() && inputs.keys.size() != 1; }
};

absl::StatusOr<Comparison> ReadComparison(const Call& call) {
  Comparison comparison;
  ASSIGN_OR_RETURN(comparison.items, ReadComparisonItems(call));
  if (comparison.items.front().has_inputs()) {
    ASSIGN_OR_RETURN(comparison.inputs, KeepCommonInputs(call, &comparison.items));
  }
  if (comparison.has_several_inputs()) return comparison;
  const int64_t most_rows = kMostRows / static_cast<int64_t>(comparison.items.size());
  for (const ComparisonItem& item : comparison.items) {
    ASSIGN_OR_RETURN(ConfigTimes times, ReadConfigTimes(call, item, most_rows));
    comparison.times.push_back(std::move(times));
  }
  return comparison;
}

absl::Status WriteBest(const Call& call, const ComparedAttempt* best, JsonWriter& out) {
  if (best == nullptr) {
    for (const char* const key : {"best_ms", "best_config_id", "best_config", "default_ms"}) out.Field(key, nullptr);
    return absl::OkStatus();
  }
  out.Field("best_ms", best->best_ms);
  out.Field("best_config_id", best->best_config_id);
  ASSIGN_OR_RETURN(const std::optional<int64_t> config, ConfigOfRow(call.dataset, best->key, best->best_seq));
  ConfigTexts::Config text;
  if (config.has_value()) {
    ASSIGN_OR_RETURN(text, ConfigTexts(call.dataset).Read(*config));
  }
  out.Field("best_config", text.text);
  out.Field("default_ms", best->default_ms);
  return absl::OkStatus();
}

absl::Status WriteItem(const Call& call, const ComparisonItem& item, bool has_several_inputs, JsonWriter& out) {
  std::set<int64_t> runs;
  int64_t rows = 0;
  for (const ComparedAttempt& attempt : item.attempts) {
    runs.insert(attempt.key.run);
    rows += attempt.rows;
  }
  out.BeginObject();
  out.Field("item", item.text);
  out.Field("kind", item.kind);
  out.Field("label", item.label);
  out.Field("runs", runs.size());
  out.Field("attempts", item.attempts.size());
  out.Field("rows", rows);
  RETURN_IF_ERROR(WriteBest(call, has_several_inputs ? nullptr : BestOf(item.attempts), out));
  out.EndObject();
  return absl::OkStatus();
}

absl::Status WritePair(const Comparison& comparison, size_t other, RowDetailReader& details, JsonWriter& out) {
  const auto& [items, inputs, times] = comparison;
  ItemRatio best, of_default, common;
  if (comparison.has_several_inputs()) {
    best = InputRatio(inputs.BestTimes(0), inputs.BestTimes(other));
    of_default = InputRatio(inputs.DefaultTimes(0), inputs.DefaultTimes(other));
  } else {
    ASSIGN_OR_RETURN(best, BestRatio(details, items[0].attempts, items[other].attempts));
    of_default = DefaultRatio(items[0].attempts, items[other].attempts);
    common = CommonRatio(times[0], times[other]);
  }
  out.BeginObject();
  out.Field("other", other);
  WriteRatio(out, "best", best);
  WriteRatio(out, "default", of_default);
  WriteRatio(out, "common", common);
  out.EndObject();
  return absl::OkStatus();
}

// Writes the items and the pairs of each with the first.
absl::Status WriteItems(const Call& call, const Comparison& comparison, JsonWriter& out) {
  out.BeginArray("items");
  for (const ComparisonItem& item : comparison.items) {
    RETURN_IF_ERROR(WriteItem(call, item, comparison.has_several_inputs(), out));
  }
  out.EndArray();
  RowDetailReader details(call.dataset);
  out.BeginArray("pairs");
  for (size_t other = 1; other < comparison.items.size(); ++other) {
    RETURN_IF_ERROR(WritePair(comparison, other, details, out));
  }
  out.EndArray();
  return absl::OkStatus();
}

template <typename T>
void WriteColumn(JsonWriter& out, const char* key, const std::vector<T>& values) {
  out.BeginArray(key);
  for (const T& value : values) out.Value(value);
  out.EndArray();
}

// `with_items`: also write the items as a column, so that each line of a CSV names its item.
absl::Status WriteConfigs(const Call& call, const Comparison& comparison, size_t limit, bool with_items,
                          JsonWriter& out) {
  std::vector<CommonConfig> configs;
  if (!comparison.times.empty()) configs = FindCommonConfigs(comparison.times);
  std::vector<std::string> items;
  for (const ComparisonItem& item : comparison.items) items.push_back(item.text);
  const size_t shown = std::min(limit, configs.size());
  ConfigTexts texts(call.dataset);
  out.BeginArray("configs");
  for (size_t i = 0; i < shown; ++i) {
    ASSIGN_OR_RETURN(const ConfigTexts::Config text, texts.Read(configs[i].config));
    out.BeginObject();
    out.Field("config_id", record::FormatConfigId(static_cast<uint64_t>(configs[i].config_id)));
    out.Field("config", text.text);
    if (with_items) WriteColumn(out, "item", items);
    WriteColumn(out, "perf_ms", configs[i].ms);
    WriteColumn(out, "rank", configs[i].rank);
    out.Field("rank_change", configs[i].rank_change);
    out.EndObject();
  }
  out.EndArray();
  out.Field("configs_left_out", configs.size() - shown);
  out.Field("common_configs", configs.size());
  return absl::OkStatus();
}

}  // namespace

absl::Status Compare(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"kernel", "shapes", "dtypes", "limit", "format"}, {"item"}));
  ASSIGN_OR_RETURN(const int64_t limit, PageSize(call));
  ASSIGN_OR_RETURN(const std::string format, call.parameters.Choice("format", {"json", "csv"}));
  ASSIGN_OR_RETURN(const Comparison comparison, ReadComparison(call));
  out.BeginObject();
  RETURN_IF_ERROR(WriteItems(call, comparison, out));
  RETURN_IF_ERROR(WriteInputs(call, comparison.inputs, out));
  RETURN_IF_ERROR(WriteConfigs(call, comparison, static_cast<size_t>(limit), format == "csv", out));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
