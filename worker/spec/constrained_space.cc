#include "worker/spec/constrained_space.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

constexpr int64_t kMostConfigs = int64_t{1} << 62;

// The parameters and constraints of a group, as indexes in the specification.
struct Members {
  std::vector<int> parameters;
  std::vector<int> constraints;
};

// Returns the parameters that a constraint uses.
std::vector<int> ParametersOf(const Specification& spec, const Constraint& constraint) {
  std::vector<int> parameters;
  for (const int variable : constraint.expression.variables()) {
    if (static_cast<size_t>(variable) < spec.parameters.size()) parameters.push_back(variable);
  }
  return parameters;
}

// Divides the parameters into groups that no constraint connects, in the order of their first parameters.
std::vector<Members> Divide(const Specification& spec) {
  std::vector<int> leader(spec.parameters.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](int parameter) {
    while (leader[static_cast<size_t>(parameter)] != parameter) parameter = leader[static_cast<size_t>(parameter)];
    return parameter;
  };
  for (const Constraint& constraint : spec.constraints) {
    const std::vector<int> connected = ParametersOf(spec, constraint);
    for (const int parameter : connected) {
      const int a = find(connected[0]);
      const int b = find(parameter);
      leader[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  std::map<int, Members> groups;
  for (size_t i = 0; i < leader.size(); ++i)
    groups[find(static_cast<int>(i))].parameters.push_back(static_cast<int>(i));
  for (size_t i = 0; i < spec.constraints.size(); ++i) {
    const std::vector<int> connected = ParametersOf(spec, spec.constraints[i]);
    if (!connected.empty()) groups[find(connected[0])].constraints.push_back(static_cast<int>(i));
  }
  std::vector<Members> result;
  for (auto& [first, members] : groups) result.push_back(std::move(members));
  return result;
}

// Checks the constraints without parameters.
absl::Status CheckConstant(const Specification& spec) {
  const std::vector<Value> values = spec.ValuesAt(spec.DefaultConfig());
  for (const Constraint& constraint : spec.constraints) {
    if (!ParametersOf(spec, constraint).empty()) continue;
    Evaluation evaluation;
    const absl::StatusOr<Value> result = constraint.expression.Evaluate(values, &evaluation);
    if (!result.ok()) {
      return {result.status().code(), Cat(constraint.path, ": ", std::string(result.status().message()))};
    }
    if (!result->Truth()) return absl::InvalidArgumentError(Cat(constraint.path, ": no config fulfils the condition"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConstrainedSpace> ConstrainedSpace::Create(const Specification& spec, const SpaceLimits& limits) {
  RETURN_IF_ERROR(CheckConstant(spec));
  ConstrainedSpace space;
  space.parameters_ = spec.parameters.size();
  SpaceLimits left = limits;
  for (Members& members : Divide(spec)) {
    const std::vector<int> constraints = std::move(members.constraints);
    ASSIGN_OR_RETURN(SpaceGroup group, SpaceGroup::Create(spec, std::move(members.parameters), constraints, &left));
    if (group.size() == 0) {
      return absl::InvalidArgumentError(
          Cat("ConfigurationSpace.Conditions: no config fulfils the conditions; the first of the group is '",
              spec.constraints[static_cast<size_t>(constraints[0])].expression.text(), "'"));
    }
    if (space.size_ > kMostConfigs / group.size()) {
      return absl::ResourceExhaustedError("ConfigurationSpace: more than 2^62 configs; shorten the lists of values");
    }
    space.size_ *= group.size();
    space.groups_.push_back(std::move(group));
  }
  return space;
}

std::vector<size_t> ConstrainedSpace::ConfigAt(int64_t index) const {
  std::vector<size_t> config(parameters_);
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    group->Set(index % group->size(), &config);
    index /= group->size();
  }
  return config;
}

std::optional<int64_t> ConstrainedSpace::Find(const std::vector<size_t>& config) const {
  int64_t index = 0;
  for (const SpaceGroup& group : groups_) {
    const std::optional<int64_t> of_group = group.Find(config);
    if (!of_group) return std::nullopt;
    index = index * group.size() + *of_group;
  }
  return index;
}

size_t ConstrainedSpace::memory_bytes() const {
  size_t bytes = 0;
  for (const SpaceGroup& group : groups_) bytes += group.memory_bytes();
  return bytes;
}

}  // namespace telemetry::worker::spec
