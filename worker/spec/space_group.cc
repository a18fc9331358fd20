#include "worker/spec/space_group.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

// Orders the parameters so that the constraints with the fewest parameters can be checked first.
std::vector<int> OrderParameters(const Specification& spec, const std::vector<int>& parameters,
                                 const std::vector<int>& constraints) {
  std::vector<bool> is_placed(spec.parameters.size(), false);
  std::vector<int> order;
  const auto missing = [&](int constraint) {
    std::vector<int> names;
    for (const int name : spec.constraints[static_cast<size_t>(constraint)].expression.variables()) {
      if (static_cast<size_t>(name) < is_placed.size() && !is_placed[static_cast<size_t>(name)]) names.push_back(name);
    }
    return names;
  };
  std::vector<int> left = constraints;
  while (!left.empty()) {
    const auto next =
        std::min_element(left.begin(), left.end(), [&](int a, int b) { return missing(a).size() < missing(b).size(); });
    for (const int name : missing(*next)) {
      is_placed[static_cast<size_t>(name)] = true;
      order.push_back(name);
    }
    left.erase(next);
  }
  for (const int parameter : parameters) {
    if (!is_placed[static_cast<size_t>(parameter)]) order.push_back(parameter);
  }
  return order;
}

}  // namespace

// The depth-first enumeration of a group.
class GroupEnumeration {
 public:
  GroupEnumeration(const Specification& spec, const std::vector<int>& constraints, SpaceLimits* limits,
                   SpaceGroup* group)
      : spec_(spec),
        limits_(*limits),
        group_(*group),
        values_(spec.ValuesAt(spec.DefaultConfig())),
        evaluation_(limits->operations),
        path_(group->parameters_.size()),
        checks_(group->parameters_.size()) {
    for (const int constraint : constraints) checks_[LevelOf(constraint)].push_back(constraint);
    group_.levels_.resize(path_.size());
  }

  absl::Status Run() {
    RETURN_IF_ERROR(Descend(0));
    limits_.operations = evaluation_.operations_left();
    limits_.memory_bytes -= std::min(limits_.memory_bytes, bytes_);
    for (SpaceGroup::Level& level : group_.levels_) {
      level.values.shrink_to_fit();
      level.first.shrink_to_fit();
    }
    return absl::OkStatus();
  }

 private:
  // Returns the level of a constraint's last parameter.
  size_t LevelOf(int constraint) const {
    size_t level = 0;
    for (const int name : spec_.constraints[static_cast<size_t>(constraint)].expression.variables()) {
      const auto found = std::find(group_.parameters_.begin(), group_.parameters_.end(), name);
      if (found == group_.parameters_.end()) continue;  // one of kExtraNames
      level = std::max(level, static_cast<size_t>(found - group_.parameters_.begin()));
    }
    return level;
  }

  absl::Status Descend(size_t level) {
    if (level == path_.size()) return AddCombination();
    const size_t parameter = static_cast<size_t>(group_.parameters_[level]);
    const ValueList& values = spec_.parameters[parameter].values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!evaluation_.Spend(1)) return TooLarge("values to try");
      path_[level] = static_cast<uint16_t>(i);
      values_[parameter] = values[i];
      unrecorded_ = std::min(unrecorded_, level);
      ASSIGN_OR_RETURN(const bool holds, Holds(level));
      if (holds) RETURN_IF_ERROR(Descend(level + 1));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Holds(size_t level) {
    for (const int index : checks_[level]) {
      const Constraint& constraint = spec_.constraints[static_cast<size_t>(index)];
      const absl::StatusOr<Value> result = constraint.expression.Evaluate(values_, &evaluation_);
      if (!result.ok())
        return evaluation_.operations_left() < 0 ? TooLarge("operations") : At(constraint, result.status());
      const bool holds = result->Truth();
      evaluation_.arena().Clear();
      if (!holds) return false;
    }
    return true;
  }

  // Adds the nodes of the path that are new since the last combination.
  absl::Status AddCombination() {
    for (size_t level = unrecorded_; level < path_.size(); ++level) {
      SpaceGroup::Level& nodes = group_.levels_[level];
      nodes.values.push_back(path_[level]);
      bytes_ += sizeof(uint16_t);
      if (level + 1 == path_.size()) continue;
      nodes.first.push_back(static_cast<uint32_t>(group_.size_));
      bytes_ += sizeof(uint32_t);
    }
    unrecorded_ = path_.size();
    ++group_.size_;
    if (bytes_ > limits_.memory_bytes || group_.size_ == std::numeric_limits<uint32_t>::max()) {
      return TooLarge("combinations");
    }
    return absl::OkStatus();
  }

  absl::Status TooLarge(std::string_view what) const {
    const std::string names = absl::StrJoin(group_.parameters_, ", ", [&](std::string* out, int parameter) {
      out->append(spec_.parameters[static_cast<size_t>(parameter)].name);
    });
    return absl::ResourceExhaustedError(Cat("the parameters ", names, ", which constraints connect, have too many ",
                                            what, " (", group_.size_,
                                            " configs were found); shorten their lists, or connect fewer of them"));
  }

  absl::Status At(const Constraint& constraint, const absl::Status& status) const {
    std::string config;
    for (const int variable : constraint.expression.variables()) {
      if (static_cast<size_t>(variable) >= spec_.parameters.size()) continue;
      config += Cat(config.empty() ? "" : ", ", spec_.parameters[static_cast<size_t>(variable)].name, "=",
                    values_[static_cast<size_t>(variable)].ToString());
    }
    return {status.code(), Cat(constraint.path, ": ", std::string(status.message()), " (at ", config, ")")};
  }

  const Specification& spec_;
  SpaceLimits& limits_;
  SpaceGroup& group_;
  std::vector<Value> values_;
  Evaluation evaluation_;
  std::vector<uint16_t> path_;            // the value of each level's parameter
  std::vector<std::vector<int>> checks_;  // the constraints that each level completes
  size_t unrecorded_ = 0;                 // the first level whose node is not in the tree
  size_t bytes_ = 0;
};

absl::StatusOr<SpaceGroup> SpaceGroup::Create(const Specification& spec, std::vector<int> parameters,
                                              const std::vector<int>& constraints, SpaceLimits* limits) {
  SpaceGroup group;
  if (constraints.empty() && parameters.size() == 1) {
    group.size_ = static_cast<int64_t>(spec.parameters[static_cast<size_t>(parameters[0])].values.size());
    group.parameters_ = std::move(parameters);
    return group;
  }
  group.parameters_ = OrderParameters(spec, parameters, constraints);
  RETURN_IF_ERROR(GroupEnumeration(spec, constraints, limits, &group).Run());
  return group;
}

void SpaceGroup::Set(int64_t index, std::vector<size_t>* config) const {
  if (levels_.empty()) {
    (*config)[static_cast<size_t>(parameters_[0])] = static_cast<size_t>(index);
    return;
  }
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    size_t node = static_cast<size_t>(index);
    if (i + 1 < levels_.size()) {
      const auto after = std::upper_bound(level.first.begin(), level.first.end(), static_cast<uint32_t>(index));
      node = static_cast<size_t>(after - level.first.begin()) - 1;
    }
    (*config)[static_cast<size_t>(parameters_[i])] = level.values[node];
  }
}

std::optional<int64_t> SpaceGroup::Find(const std::vector<size_t>& config) const {
  if (levels_.empty()) {
    const int64_t value = static_cast<int64_t>(config[static_cast<size_t>(parameters_[0])]);
    return value < size_ ? std::optional(value) : std::nullopt;
  }
  // The combinations that begin with the values so far.
  uint32_t begin = 0;
  uint32_t end = static_cast<uint32_t>(size_);
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const bool is_last = i + 1 == levels_.size();
    const auto node_of = [&](uint32_t combination) {
      if (is_last) return static_cast<size_t>(combination);
      return static_cast<size_t>(std::lower_bound(level.first.begin(), level.first.end(), combination) -
                                 level.first.begin());
    };
    const auto nodes_begin = level.values.begin() + static_cast<std::ptrdiff_t>(node_of(begin));
    const auto nodes_end = level.values.begin() + static_cast<std::ptrdiff_t>(node_of(end));
    const size_t value = config[static_cast<size_t>(parameters_[i])];
    const auto found = std::lower_bound(nodes_begin, nodes_end, value);
    if (found == nodes_end || *found != value) return std::nullopt;
    const size_t node = static_cast<size_t>(found - level.values.begin());
    if (is_last) return static_cast<int64_t>(node);
    begin = level.first[node];
    if (node + 1 < level.first.size()) end = std::min(end, level.first[node + 1]);
  }
  return std::nullopt;
}

size_t SpaceGroup::memory_bytes() const {
  size_t bytes = 0;
  for (const Level& level : levels_) {
    bytes += level.values.capacity() * sizeof(uint16_t) + level.first.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace telemetry::worker::spec
