#include "proto/record/sidecar/config_text.h"

#include <algorithm>

#include "proto/record/python_literal.h"

namespace telemetry::record::sidecar {

std::string SortedConfigText(Json config) {
  std::stable_sort(config.members.begin(), config.members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return FormatConfig(config);
}

std::string ConfigKeysJson(const Json& config) {
  Json keys = Json::Array();
  keys.items.reserve(config.members.size());
  for (const auto& [key, value] : config.members) keys.items.push_back(Json::String(key));
  return ToJson(keys);
}

}  // namespace telemetry::record::sidecar
