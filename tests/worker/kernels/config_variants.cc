#include "tests/worker/kernels/config_variants.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace telemetry::worker::kernels {
namespace {

using codegen::Config;
using codegen::ConfigParameter;
using codegen::ConfigSpace;
using record::Json;

std::vector<Json> AllPermutations(int64_t length) {
  std::vector<int64_t> order(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<Json> all;
  do {
    Json permutation = Json::Array();
    for (const int64_t item : order) permutation.items.push_back(Json::Integer(item));
    all.push_back(std::move(permutation));
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

std::vector<Json> IntegerValues(const ConfigParameter& parameter) {
  std::set<int64_t> integers;
  for (const int64_t near : {parameter.low, parameter.low + 1, parameter.low + 2, parameter.low + 3,
                             (parameter.low + parameter.high) / 2, parameter.high - 1, parameter.high}) {
    if (near >= parameter.low && near <= parameter.high) integers.insert(near);
  }
  std::vector<Json> values;
  for (const int64_t integer : integers) values.push_back(Json::Integer(integer));
  return values;
}

std::vector<Json> PowerValues(const ConfigParameter& parameter) {
  std::vector<Json> values;
  for (int64_t power = parameter.low; power <= parameter.high; power *= 2) values.push_back(Json::Integer(power));
  return values;
}

void Set(const ConfigParameter& parameter, const Json& value, Json* config) {
  for (auto& [key, held] : config->members) {
    if (key != parameter.key) continue;
    (parameter.index < 0 ? held : held.items[static_cast<size_t>(parameter.index)]) = value;
  }
}

// Returns the default config with this value. If it is rejected, retries with the smallest other blocks.
std::optional<Config> With(const ConfigSpace& space, const ConfigParameter& parameter, const Json& value) {
  Json changed = space.Default().json();
  Set(parameter, value, &changed);
  absl::StatusOr<Config> config = space.Normalize(Config(changed));
  if (config.ok()) return *std::move(config);
  for (const ConfigParameter& other : space.parameters()) {
    if (other.key == "block_sizes") Set(other, Json::Integer(other.low), &changed);
  }
  Set(parameter, value, &changed);
  config = space.Normalize(Config(changed));
  return config.ok() ? std::make_optional(*std::move(config)) : std::nullopt;
}

}  // namespace

std::vector<Json> ListValues(const ConfigParameter& parameter) {
  std::vector<Json> values;
  switch (parameter.kind) {
    case ConfigParameter::Kind::kPowerOfTwo:
      values = PowerValues(parameter);
      break;
    case ConfigParameter::Kind::kInteger:
      values = IntegerValues(parameter);
      break;
    case ConfigParameter::Kind::kBoolean:
      values = {Json::Bool(false), Json::Bool(true)};
      break;
    case ConfigParameter::Kind::kChoice:
      values = parameter.choices;
      break;
    case ConfigParameter::Kind::kPermutation:
      values = AllPermutations(parameter.high);
      break;
  }
  if (parameter.optional) values.push_back(Json::Null());
  return values;
}

std::vector<Config> OneAtATime(const ConfigSpace& space) {
  std::vector<Config> configs = {space.Default()};
  for (const ConfigParameter& parameter : space.parameters()) {
    for (const Json& value : ListValues(parameter)) {
      std::optional<Config> config = With(space, parameter, value);
      if (config && !(*config == configs.front())) configs.push_back(*std::move(config));
    }
  }
  return configs;
}

std::vector<Config> AllAtOnce(const ConfigSpace& space) {
  size_t most = 1;
  for (const ConfigParameter& parameter : space.parameters()) most = std::max(most, ListValues(parameter).size());
  std::vector<Config> configs = {space.Default()};
  for (size_t i = 0; i < most; ++i) {
    Json changed = space.Default().json();
    // Combines large blocks with small ones: every second parameter that has a choice runs through its values
    // backwards.
    bool backwards = false;
    for (const ConfigParameter& parameter : space.parameters()) {
      const std::vector<Json> values = ListValues(parameter);
      const size_t position = i % values.size();
      Set(parameter, values[backwards ? values.size() - 1 - position : position], &changed);
      if (values.size() > 1) backwards = !backwards;
    }
    absl::StatusOr<Config> config = space.Normalize(Config(changed));
    if (config.ok()) {
      configs.push_back(*std::move(config));
      continue;
    }
    for (const ConfigParameter& parameter : space.parameters()) {
      const std::vector<Json> values = ListValues(parameter);
      if (i >= values.size()) continue;
      if (std::optional<Config> alone = With(space, parameter, values[i])) configs.push_back(*std::move(alone));
    }
  }
  return configs;
}

}  // namespace telemetry::worker::kernels
