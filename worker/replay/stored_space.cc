#include "worker/replay/stored_space.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/codegen/config_parameter.h"

namespace telemetry::worker::replay {
namespace {

using codegen::Config;
using codegen::ConfigParameter;
using record::Json;

// Returns the values of a key in all configs; null where a config has no such key.
std::vector<Json> ValuesOf(const std::string& key, const std::vector<Config>& configs) {
  std::vector<Json> values;
  values.reserve(configs.size());
  for (const Config& config : configs) {
    const Json* const value = config.json().Find(key);
    values.push_back(value == nullptr ? Json::Null() : *value);
  }
  return values;
}

// Returns the length of the lists if all values are lists of one length, else 0.
size_t LengthOf(const std::vector<Json>& values) {
  for (const Json& value : values) {
    if (value.kind != Json::Kind::kArray || value.items.size() != values[0].items.size()) return 0;
  }
  return values[0].items.size();
}

std::optional<int64_t> IntegerOf(const Json& value) {
  return value.kind == Json::Kind::kNumber ? record::ParseInt64(value.text) : std::nullopt;
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

bool IsPermutation(const Json& value) {
  std::set<int64_t> items;
  for (const Json& item : value.items) items.insert(IntegerOf(item).value_or(-1));
  return value.items.size() > 1 && items.size() == value.items.size() && *items.begin() == 0 &&
         *items.rbegin() == static_cast<int64_t>(items.size()) - 1;
}

// Numbers in ascending order, then the other values by their text.
bool IsLess(const Json& a, const Json& b) {
  const bool are_numbers = a.kind == Json::Kind::kNumber && b.kind == Json::Kind::kNumber;
  if (are_numbers) return record::ParseDecimal(a.text).value_or(0) < record::ParseDecimal(b.text).value_or(0);
  if (a.kind != b.kind) return a.kind < b.kind;
  return record::ToJson(a) < record::ToJson(b);
}

// Returns the parameter with these stored values, of which the first is the default.
ConfigParameter ParameterOf(std::string key, int index, const std::vector<Json>& values) {
  ConfigParameter parameter = {.key = std::move(key), .index = index, .default_value = values[0]};
  parameter.choices = values;
  std::stable_sort(parameter.choices.begin(), parameter.choices.end(), IsLess);
  parameter.choices.erase(std::unique(parameter.choices.begin(), parameter.choices.end()), parameter.choices.end());

  std::vector<int64_t> numbers;
  for (const Json& value : parameter.choices) {
    if (value.is_null()) parameter.optional = true;
    if (const std::optional<int64_t> number = IntegerOf(value)) numbers.push_back(*number);
  }
  const bool are_numbers =
      !numbers.empty() && numbers.size() + (parameter.optional ? 1 : 0) == parameter.choices.size();
  if (are_numbers && std::all_of(numbers.begin(), numbers.end(), IsPowerOfTwo)) {
    parameter.kind = ConfigParameter::Kind::kPowerOfTwo;
  } else if (are_numbers && numbers.back() - numbers.front() == static_cast<int64_t>(numbers.size()) - 1) {
    parameter.kind = ConfigParameter::Kind::kInteger;
  } else if (std::all_of(values.begin(), values.end(), IsPermutation)) {
    parameter.kind = ConfigParameter::Kind::kPermutation;
    numbers = {static_cast<int64_t>(values[0].items.size())};
  } else {
    parameter.kind = ConfigParameter::Kind::kChoice;
    parameter.optional = false;  // None is a choice
    return parameter;
  }
  parameter.low = numbers.front();
  parameter.high = numbers.back();
  return parameter;
}

}  // namespace

class StoredSpace::Enumeration final : public codegen::ConfigEnumeration {
 public:
  explicit Enumeration(std::vector<Config> configs) : configs_(std::move(configs)) {
    for (size_t i = 0; i < configs_.size(); ++i) positions_.emplace(configs_[i].ToString(), i);
  }

  int64_t size() const override { return static_cast<int64_t>(configs_.size()); }
  Config At(int64_t index) const override { return configs_[static_cast<size_t>(index)]; }
  absl::Status Check(const Config& config) const override {
    return Find(config).has_value() ? absl::OkStatus() : absl::InvalidArgumentError("the dataset has no such config");
  }
  std::optional<size_t> Find(const Config& config) const {
    const auto found = positions_.find(config.ToString());
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const std::vector<Config> configs_;
  std::unordered_map<std::string, size_t> positions_;
};

absl::StatusOr<StoredSpace> StoredSpace::Create(const StoredRun& run) {
  if (run.configs.empty()) return absl::InvalidArgumentError("the run has no configs");
  std::vector<Config> configs;
  std::set<std::string> keys;
  for (const StoredConfig& stored : run.configs) {
    configs.push_back(stored.config);
    for (const auto& [key, value] : stored.config.json().members) keys.insert(key);
  }
  std::vector<ConfigParameter> parameters;
  std::vector<Json> complete(configs.size(), Json::Object());  // the configs with all keys
  double combinations = 1;
  const auto add = [&](const std::string& key, int index, const std::vector<Json>& values) {
    parameters.push_back(ParameterOf(key, index, values));
    combinations *= static_cast<double>(std::max<size_t>(1, parameters.back().choices.size()));
    if (parameters.back().kind != ConfigParameter::Kind::kChoice) parameters.back().choices.clear();
  };
  for (const std::string& key : keys) {
    const std::vector<Json> values = ValuesOf(key, configs);
    for (size_t i = 0; i < values.size(); ++i) complete[i].members.emplace_back(key, values[i]);
    const size_t length = LengthOf(values);
    if (length == 0) add(key, -1, values);
    for (size_t item = 0; item < length; ++item) {
      std::vector<Json> items;
      items.reserve(values.size());
      for (const Json& value : values) items.push_back(value.items[item]);
      add(key, static_cast<int>(item), items);
    }
  }
  const double coverage = static_cast<double>(configs.size()) / combinations;
  for (size_t i = 0; i < configs.size(); ++i) configs[i] = Config(std::move(complete[i]));
  auto enumeration = std::make_shared<const Enumeration>(std::move(configs));
  codegen::ConfigSpace space = codegen::ConfigSpace::Of(std::move(parameters), enumeration);
  return StoredSpace(std::move(space), std::move(enumeration), coverage);
}

std::optional<size_t> StoredSpace::Find(const Config& proposed) const { return enumeration_->Find(proposed); }

}  // namespace telemetry::worker::replay
