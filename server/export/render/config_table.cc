#include "server/export/render/config_table.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "proto/record/json.h"
#include "proto/record/sidecar/row.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter::render {

void ConfigTable::Add(const v1::Config& config) {
  auto [place, added] = configs_.try_emplace(config.config_id());
  if (added) {
    place->second = Quote(config.text());
  } else if (place->second.text != config.text()) {
    auto known = replacements_.find(config.text());
    if (known == replacements_.end()) {
      const ConfigText quoted = Quote(config.text());
      known = replacements_.emplace(quoted.text, quoted).first;
    }
    place->second = known->second;
  }
}

ConfigText ConfigTable::Quote(std::string_view text) {
  if (fields_are_json_) {
    const std::string json = text.empty() ? "" : record::ToJson(ConfigJson(text));
    return {.text = Keep(text), .field = Keep(record::sidecar::CsvField(json))};
  }
  const std::string_view field = Keep(record::sidecar::CsvField(text));
  const bool has_quotes = field.size() != text.size();
  const bool is_inside_field = text.find('"') == std::string_view::npos;
  return {.text = is_inside_field ? field.substr(has_quotes ? 1 : 0, text.size()) : Keep(text), .field = field};
}

const ConfigText* ConfigTable::Find(uint64_t config_id) const {
  auto found = configs_.find(config_id);
  return found == configs_.end() ? nullptr : &found->second;
}

std::string_view ConfigTable::Keep(std::string_view text) {
  constexpr size_t kBlockBytes = 1 << 20;
  if (free_bytes_ < text.size()) {
    free_bytes_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_bytes_));
    free_ = blocks_.back().get();
  }
  if (text.empty()) return {};
  std::memcpy(free_, text.data(), text.size());
  std::string_view kept(free_, text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return kept;
}

}  // namespace telemetry::exporter::render
