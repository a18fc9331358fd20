#include "worker/spec/spec_space.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using codegen::Config;
using codegen::ConfigParameter;
using record::Cat;
using record::Json;

class SpecEnumeration final : public codegen::ConfigEnumeration {
 public:
  SpecEnumeration(std::shared_ptr<const Specification> spec, ConstrainedSpace space)
      : spec_(std::move(spec)), space_(std::move(space)) {}

  int64_t size() const override { return space_.size(); }
  Config At(int64_t index) const override { return ToConfig(*spec_, space_.ConfigAt(index)); }
  absl::Status Check(const Config& config) const override {
    ASSIGN_OR_RETURN(const std::vector<size_t> indexes, ToIndexes(*spec_, config));
    if (space_.Find(indexes)) return absl::OkStatus();
    return absl::InvalidArgumentError("the config violates a condition of the specification");
  }

 private:
  const std::shared_ptr<const Specification> spec_;
  const ConstrainedSpace space_;
};

// Returns true if the values are 2^a, 2^(a+1), ... or n, n+1, ..., in any order.
bool IsRun(const Parameter& parameter, bool of_powers) {
  std::vector<int64_t> values;
  for (const Value& value : parameter.values) {
    if (value.kind() != Value::Kind::kInteger) return false;
    values.push_back(value.integer());
  }
  std::sort(values.begin(), values.end());
  if (of_powers && (values[0] <= 0 || (values[0] & (values[0] - 1)) != 0)) return false;
  for (size_t i = 1; i < values.size(); ++i) {
    if (of_powers ? values[i] / 2 != values[i - 1] || values[i] % 2 != 0 : values[i] - 1 != values[i - 1]) return false;
  }
  return true;
}

ConfigParameter ToConfigParameter(const Parameter& parameter, size_t default_index) {
  ConfigParameter result = {.key = parameter.name, .kind = ConfigParameter::Kind::kChoice};
  result.default_value = parameter.values[default_index].ToJson();
  const bool are_powers = IsRun(parameter, /*of_powers=*/true);
  if (are_powers || IsRun(parameter, /*of_powers=*/false)) {
    const auto less = [](const Value& a, const Value& b) { return a.integer() < b.integer(); };
    const auto [low, high] = std::minmax_element(parameter.values.begin(), parameter.values.end(), less);
    result.kind = are_powers ? ConfigParameter::Kind::kPowerOfTwo : ConfigParameter::Kind::kInteger;
    result.low = low->integer();
    result.high = high->integer();
    return result;
  }
  for (const Value& value : parameter.values) result.choices.push_back(value.ToJson());
  return result;
}

}  // namespace

absl::StatusOr<codegen::ConfigSpace> MakeConfigSpace(std::shared_ptr<const Specification> spec) {
  ASSIGN_OR_RETURN(ConstrainedSpace space, ConstrainedSpace::Create(*spec));
  std::vector<size_t> defaults = spec->DefaultConfig();
  if (!space.Find(defaults)) defaults = space.ConfigAt(0);
  std::vector<ConfigParameter> parameters;
  for (size_t i = 0; i < spec->parameters.size(); ++i) {
    parameters.push_back(ToConfigParameter(spec->parameters[i], defaults[i]));
  }
  return codegen::ConfigSpace::Of(std::move(parameters),
                                  std::make_shared<SpecEnumeration>(std::move(spec), std::move(space)));
}

Config ToConfig(const Specification& spec, const std::vector<size_t>& indexes) {
  Json object = Json::Object();
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    object.members.emplace_back(spec.parameters[i].name, spec.parameters[i].values[indexes[i]].ToJson());
  }
  std::sort(object.members.begin(), object.members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return Config(std::move(object));
}

absl::StatusOr<std::vector<size_t>> ToIndexes(const Specification& spec, const Config& config) {
  std::vector<size_t> indexes;
  ValueArena arena;
  for (const Parameter& parameter : spec.parameters) {
    const Json* json = config.json().Find(parameter.name);
    if (json == nullptr) return absl::InvalidArgumentError(Cat("the config has no value of '", parameter.name, "'"));
    ASSIGN_OR_RETURN(const Value value, arena.FromJson(*json));
    const auto found = std::find_if(parameter.values.begin(), parameter.values.end(),
                                    [&](const Value& known) { return known.Equals(value); });
    if (found == parameter.values.end()) {
      return absl::InvalidArgumentError(Cat(parameter.name, "=", value.ToString(), " is not one of the values"));
    }
    indexes.push_back(static_cast<size_t>(found - parameter.values.begin()));
  }
  return indexes;
}

}  // namespace telemetry::worker::spec
