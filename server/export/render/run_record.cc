#include "server/export/render/run_record.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/meta_record.h"

namespace telemetry::exporter::render {
namespace {

std::string GraphBytes(const std::optional<v1::IrGraph>& graph) {
  return graph.has_value() ? graph->SerializeAsString() : "";
}

}  // namespace

bool RecordParts::Merge(const RecordParts& other) {
  if (run.SerializeAsString() != other.run.SerializeAsString() || GraphBytes(graph) != GraphBytes(other.graph)) {
    return false;
  }
  // Configs that a record lists take precedence over those that rows name.
  if (is_listed && !other.is_listed) return true;
  if (!is_listed && other.is_listed) configs.clear();
  absl::flat_hash_map<uint64_t, std::string> known;
  for (const record::sidecar::RecordConfigJson& config : configs) known[config.config_id] = config.json;
  std::vector<record::sidecar::RecordConfigJson> added;
  for (const record::sidecar::RecordConfigJson& config : other.configs) {
    auto found = known.find(config.config_id);
    if (found == known.end()) {
      added.push_back(config);
    } else if (found->second != config.json) {
      return false;
    }
  }
  is_listed = other.is_listed;
  configs.insert(configs.end(), added.begin(), added.end());
  return true;
}

std::string RecordParts::Format(Layout layout) const {
  switch (layout) {
    case Layout::kHelion:
      return record::sidecar::FormatHelionMetaOfJson(run, graph.has_value() ? &*graph : nullptr, configs) + "\n";
    case Layout::kPr2750:
      return record::sidecar::FormatPr2750Meta(run) + "\n";
    case Layout::kPr2699:
      return record::sidecar::FormatPr2699Meta(run);
    case Layout::kV11:
    case Layout::kKeyed:
    case Layout::kT4:
    case Layout::kKernelTunerCache:
      break;
  }
  return "";
}

void RunRecord::Add(const v1::RunConfig& run_config) {
  if (!run_config.has_record_keys_json()) return;
  const std::string& keys = run_config.record_keys_json();
  if (key_lists_.empty() || key_lists_.back() != keys) key_lists_.push_back(keys);
  listed_[run_config.config_id()] = key_lists_.size() - 1;
}

void RunRecord::SawConfig(uint64_t config_id) {
  if (layout_ == Layout::kHelion && seen_.insert(config_id).second) seen_in_order_.push_back(config_id);
}

absl::StatusOr<std::optional<RecordParts>> RunRecord::Parts(const v1::Run& run, const ConfigTable& configs,
                                                            ConfigFormatter* formatter) const {
  const bool is_described = run.has_kernel_name() || run.has_kernel_source();
  if (!is_described && layout_ != Layout::kKeyed && !IsOfKernelTuner(layout_)) return std::nullopt;
  RecordParts parts = {.run = run, .graph = graph_, .is_listed = !listed_.empty(), .configs = {}};
  if (layout_ != Layout::kHelion) return parts;
  for (uint64_t config_id : ConfigsInOrder()) {
    const ConfigText* config = configs.Find(config_id);
    if (config == nullptr) {
      return absl::DataLossError(absl::StrCat("run ", run.run_id(), " lists config ", record::FormatConfigId(config_id),
                                              ", which the dataset does not hold: check the database"));
    }
    const auto keys = listed_.find(config_id);
    const std::string_view keys_json = keys == listed_.end() ? std::string_view() : key_lists_[keys->second];
    parts.configs.push_back({.config_id = config_id, .json = formatter->Format(config->text, keys_json)});
  }
  return parts;
}

// Returns the configs that the run's records list, else those of its rows: in the order of the rows, the rest by
// config_id.
std::vector<uint64_t> RunRecord::ConfigsInOrder() const {
  if (listed_.empty()) return seen_in_order_;
  std::vector<uint64_t> order;
  for (uint64_t config_id : seen_in_order_) {
    if (listed_.contains(config_id)) order.push_back(config_id);
  }
  const auto seen_end = static_cast<std::ptrdiff_t>(order.size());
  for (const auto& [config_id, keys] : listed_) {
    if (!seen_.contains(config_id)) order.push_back(config_id);
  }
  std::sort(order.begin() + seen_end, order.end());
  return order;
}

}  // namespace telemetry::exporter::render
