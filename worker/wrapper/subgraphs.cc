#include "worker/wrapper/subgraphs.h"

#include <algorithm>

#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using device::DType;
using record::Cat;

std::string WhyNotPredicate(const PlanBuffer& buffer) {
  const bool is_integer = buffer.dtype == DType::kBool || buffer.dtype == DType::kI32;
  const bool has_one = std::all_of(buffer.sizes.begin(), buffer.sizes.end(), [](int64_t size) { return size == 1; });
  if (is_integer && has_one) return "";
  return Cat("buffer '", buffer.name, "' is ", buffer.LayoutText(), ", but a predicate is bool or i32 of one element");
}

Subgraphs::Part Subgraphs::PartOf(size_t line, int subgraph) const {
  Part part = {.first = line, .last = ends[line]};
  for (int inner = of_line[line]; inner != subgraph;) {
    const Subgraph& around = all[static_cast<size_t>(inner)];
    part = {.first = around.first, .last = around.last};
    inner = around.parent;
  }
  return part;
}

namespace {

class SubgraphFinder {
 public:
  explicit SubgraphFinder(const Plan& plan) : plan_(plan) {}

  Subgraphs Find() {
    for (line_ = 0; line_ < plan_.lines.size(); ++line_) {
      found_.jumps.push_back(line_ + 1);
      found_.ends.push_back(line_);
      const Line& line = plan_.lines[line_];
      if (std::holds_alternative<ExitSubgraph>(line)) Exit();
      found_.of_line.push_back(open_.empty() ? -1 : open_.back());
      if (std::holds_alternative<If>(line)) conditionals_.push_back({.first = line_});
      if (std::holds_alternative<Else>(line)) TakeElse();
      if (std::holds_alternative<EndIf>(line)) TakeEnd();
      if (const auto* enter = std::get_if<EnterSubgraph>(&line)) Enter(enter->name);
    }
    return std::move(found_);
  }

 private:
  struct Conditional {
    size_t first = 0;      // the line If
    size_t otherwise = 0;  // the line Else; 0: none so far
    std::vector<int> branches = {};
  };

  Subgraph& At(int subgraph) { return found_.all[static_cast<size_t>(subgraph)]; }

  void Enter(const std::string& name) {
    const int made = static_cast<int>(found_.all.size());
    found_.all.push_back({.name = name, .parent = open_.empty() ? -1 : open_.back(), .enter = line_, .first = line_});
    const Line* before = line_ == 0 ? nullptr : &plan_.lines[line_ - 1];
    if (before != nullptr && (std::holds_alternative<If>(*before) || std::holds_alternative<Else>(*before))) {
      found_.all.back().first = conditionals_.back().first;
      conditionals_.back().branches.push_back(made);
    }
    open_.push_back(made);
  }

  void Exit() {
    At(open_.back()).exit = line_;
    At(open_.back()).last = line_;
    open_.pop_back();
  }

  void TakeElse() {
    conditionals_.back().otherwise = line_;
    found_.jumps[conditionals_.back().first] = line_ + 1;
  }

  void TakeEnd() {
    const Conditional& ended = conditionals_.back();
    for (const int branch : ended.branches) At(branch).last = line_;
    found_.ends[ended.first] = line_;
    found_.jumps[ended.otherwise == 0 ? ended.first : ended.otherwise] = line_ + 1;
    conditionals_.pop_back();
  }

  const Plan& plan_;
  Subgraphs found_;
  std::vector<int> open_;
  std::vector<Conditional> conditionals_;
  size_t line_ = 0;
};

}  // namespace

Subgraphs FindSubgraphs(const Plan& plan) { return SubgraphFinder(plan).Find(); }

std::vector<bool> FindScalarInputs(const Plan& plan) {
  const std::vector<Place> places = ComputePlaces(plan);
  std::vector<bool> is_scalar(plan.buffers.size());
  for (const int input : plan.inputs) is_scalar[static_cast<size_t>(input)] = true;
  for (const Line& line : plan.lines) {
    if (std::holds_alternative<If>(line) || std::holds_alternative<Reinterpret>(line)) continue;
    for (const int id : ComputeEffects(line).uses) {
      is_scalar[static_cast<size_t>(places[static_cast<size_t>(id)].root)] = false;
    }
  }
  return is_scalar;
}

}  // namespace telemetry::worker::wrapper
