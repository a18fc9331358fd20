#include "server/web/rows/knob_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"

namespace telemetry::web::rows {
namespace {

std::optional<double> ParseNumber(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

// A knob that is being collected.
struct Collected {
  absl::flat_hash_map<std::string, int32_t> index;
  std::vector<std::string> texts;
  std::vector<int32_t> value_of;
};

void Add(const ConfigTable::Setting& setting, size_t config, size_t configs, size_t most_knobs,
         std::map<std::string, Collected>* knobs) {
  auto found = knobs->find(setting.first);
  if (found == knobs->end()) {
    if (knobs->size() == most_knobs) return;
    found = knobs->emplace(setting.first, Collected()).first;
    found->second.value_of.assign(configs, Knob::kAbsent);
  }
  Collected& knob = found->second;
  const auto [value, is_new] = knob.index.emplace(setting.second, static_cast<int32_t>(knob.texts.size()));
  if (is_new) knob.texts.push_back(setting.second);
  knob.value_of[config] = value->second;
}

// Orders the values of a knob.
Knob Finish(const std::string& name, Collected collected) {
  Knob knob = {.name = name, .is_number = true};
  std::vector<Knob::Value> values;
  for (std::string& text : collected.texts) {
    const std::optional<double> number = ParseNumber(text);
    knob.is_number = knob.is_number && number.has_value();
    values.push_back({.text = std::move(text), .number = number});
  }
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const Knob::Value& left = values[static_cast<size_t>(a)];
    const Knob::Value& right = values[static_cast<size_t>(b)];
    if (knob.is_number && *left.number != *right.number) return *left.number < *right.number;
    return left.text < right.text;
  });
  std::vector<int32_t> place(values.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<size_t>(order[i]);
    place[at] = static_cast<int32_t>(i);
    knob.values.push_back(std::move(values[at]));
    if (!knob.is_number) knob.values.back().number.reset();
  }
  knob.value_of = std::move(collected.value_of);
  for (int32_t& value : knob.value_of) {
    if (value != Knob::kAbsent) value = place[static_cast<size_t>(value)];
  }
  return knob;
}

}  // namespace

size_t Knob::CountValues() const {
  const bool has_absent = std::find(value_of.begin(), value_of.end(), kAbsent) != value_of.end();
  return values.size() + (has_absent ? 1 : 0);
}

std::vector<Knob> FindKnobs(const ConfigTable& table, absl::Span<const int64_t> configs, size_t most_knobs) {
  std::map<std::string, Collected> collected;
  for (size_t i = 0; i < configs.size(); ++i) {
    for (const int64_t argument : table.Find(configs[i]).arguments) {
      for (const ConfigTable::Setting& setting : table.Argument(argument)) {
        Add(setting, i, configs.size(), most_knobs, &collected);
      }
    }
  }
  std::vector<Knob> knobs;
  for (auto& [name, knob] : collected) knobs.push_back(Finish(name, std::move(knob)));
  return knobs;
}

}  // namespace telemetry::web::rows
