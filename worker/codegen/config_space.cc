#include "worker/codegen/config_space.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/python_repr.h"
#include "proto/record/strings.h"
#include "worker/codegen/cluster.h"
#include "worker/codegen/config_defaults.h"
#include "worker/codegen/config_parameter.h"
#include "worker/codegen/product_loop.h"
#include "worker/codegen/target.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;
using record::Json;

std::string Repr(const Json& value) {
  std::string text;
  record::AppendRepr(value, &text);
  return text;
}

// Returns the parameter's name: "block_sizes[1]".
std::string ParameterName(const ConfigParameter& parameter) {
  return parameter.index < 0 ? parameter.key : Cat(parameter.key, "[", parameter.index, "]");
}

absl::Status CheckedItem(const ConfigParameter& parameter, const Json& value) {
  if (Allows(parameter, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(ParameterName(parameter), "=", Repr(value), " is not allowed; expected ",
                                        AllowedText(parameter), parameter.constraint.empty() ? "" : ", ",
                                        parameter.constraint));
}

// Returns the keys in order, each with the length of its list (0: the key holds a single value).
std::vector<std::pair<std::string, size_t>> ListKeys(const std::vector<ConfigParameter>& parameters) {
  std::vector<std::pair<std::string, size_t>> keys;
  for (const ConfigParameter& parameter : parameters) {
    if (keys.empty() || keys.back().first != parameter.key) keys.emplace_back(parameter.key, 0);
    if (parameter.index >= 0) ++keys.back().second;
  }
  return keys;
}

std::string KeyNames(const std::vector<ConfigParameter>& parameters) {
  std::string names;
  for (const auto& [key, count] : ListKeys(parameters)) names += Cat(names.empty() ? "" : ", ", key);
  return names;
}

}  // namespace

Config ConfigSpace::Default() const {
  Json object = Json::Object();
  for (const ConfigParameter& parameter : parameters_) {
    if (parameter.index < 0) {
      object.members.emplace_back(parameter.key, parameter.default_value);
      continue;
    }
    if (parameter.index == 0) object.members.emplace_back(parameter.key, Json::Array());
    object.members.back().second.items.push_back(parameter.default_value);
  }
  return Config(std::move(object));
}

absl::StatusOr<Config> ConfigSpace::Normalize(const Config& config) const {
  Json complete = Default().json();
  std::set<std::string> seen;
  for (const auto& [key, value] : config.json().members) {
    const auto keys = ListKeys(parameters_);
    const auto known = std::find_if(keys.begin(), keys.end(), [&key = key](const auto& k) { return k.first == key; });
    if (known == keys.end()) {
      return absl::InvalidArgumentError(
          Cat("this kernel has no config key '", key, "'; it has ", KeyNames(parameters_)));
    }
    if (!seen.insert(key).second) return absl::InvalidArgumentError(Cat("the config has '", key, "' twice"));
    const bool is_list = known->second > 0;
    if (is_list && (value.kind != Json::Kind::kArray || value.items.size() != known->second)) {
      return absl::InvalidArgumentError(
          Cat(key, "=", Repr(value), " is not allowed; expected a list of ", known->second, " values"));
    }
    for (const ConfigParameter& parameter : parameters_) {
      if (parameter.key != key) continue;
      const Json& item = is_list ? value.items[static_cast<size_t>(parameter.index)] : value;
      RETURN_IF_ERROR(CheckedItem(parameter, item));
    }
    auto member = std::find_if(complete.members.begin(), complete.members.end(),
                               [&key = key](const auto& m) { return m.first == key; });
    member->second = value;
  }
  int64_t elements = 1;
  for (const int64_t block : fixed_blocks_) elements *= block;
  const Json* blocks = complete.Find("block_sizes");
  for (const ConfigParameter& parameter : parameters_) {
    if (blocks == nullptr || parameter.key != "block_sizes" || parameter.constraint.empty()) continue;
    elements *= std::atoll(blocks->items[static_cast<size_t>(parameter.index)].text.c_str());
  }
  if (elements > kMostTileElements) {
    return absl::InvalidArgumentError(Cat("block_sizes=", Repr(*blocks), " is not allowed: the tile has ", elements,
                                          " elements; ", BlockConstraint()));
  }
  Config normal(std::move(complete));
  if (enumeration_ != nullptr) RETURN_IF_ERROR(enumeration_->Check(normal));
  return normal;
}

std::string ConfigSpace::DebugString() const {
  std::string text;
  for (const ConfigParameter& parameter : parameters_) {
    text += Cat(ParameterName(parameter), ": ", AllowedText(parameter), ", default ", Repr(parameter.default_value));
    if (!parameter.constraint.empty()) text += Cat(", ", parameter.constraint);
    text += '\n';
  }
  return text;
}

ConfigSpace ConfigSpace::Of(std::vector<ConfigParameter> parameters,
                            std::shared_ptr<const ConfigEnumeration> enumeration) {
  ConfigSpace space;
  space.parameters_ = std::move(parameters);
  std::stable_sort(space.parameters_.begin(), space.parameters_.end(),
                   [](const ConfigParameter& a, const ConfigParameter& b) { return a.key < b.key; });
  space.enumeration_ = std::move(enumeration);
  return space;
}

ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir) {
  ConfigSpace space;
  space.parameters_ = ParametersFor(ir);
  std::stable_sort(space.parameters_.begin(), space.parameters_.end(),
                   [](const ConfigParameter& a, const ConfigParameter& b) { return a.key < b.key; });
  for (const ir::Axis& axis : ir.axes) {
    if (axis.kind == ir::AxisKind::kGrid && axis.fixed_block > 0) space.fixed_blocks_.push_back(axis.fixed_block);
  }
  return space;
}

ConfigSpace ConfigSpaceFor(const ir::DeviceIr& ir, const Target& target) {
  ConfigSpace space = ConfigSpaceFor(ir);
  for (ConfigParameter& parameter : space.parameters_) {
    if (parameter.key == "num_ctas" && !HasClusters(target)) parameter.high = 1;
    if (parameter.key == "overlap_dots" && !HasWgmma(target)) parameter.choices = {Json::Bool(false)};
    if (parameter.key == "producer_warp" && !HasProducerWarp(target)) parameter.choices = {Json::Bool(false)};
  }
  return space;
}

}  // namespace telemetry::worker::codegen
