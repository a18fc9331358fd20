// The part of PlanBuilder that adds subgraphs and conditionals.

#include <string_view>
#include <utility>

#include "proto/record/strings.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper {

using record::Cat;

void PlanBuilder::Enter(Scope scope) {
  if (scopes_.size() == kMostSubgraphDepth) {
    Fail(absl::InvalidArgumentError(
        Cat("subgraph '", scope.name, "': at most ", kMostSubgraphDepth, " subgraphs can be nested")));
    return;
  }
  plan_.lines.emplace_back(wrapper::EnterSubgraph{scope.name});
  scopes_.push_back(std::move(scope));
}

void PlanBuilder::Leave() {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const int id = static_cast<int>(i);
    if (depths_[i] != scopes_.size() || !subgraphs_[i].empty()) continue;
    if (roots_[i] == id && !is_ended_[i]) Release({id});
    subgraphs_[i] = scopes_.back().name;
  }
  plan_.lines.emplace_back(wrapper::ExitSubgraph{});
  scopes_.pop_back();
}

std::optional<PlanBuilder::Scope> PlanBuilder::LeaveBranch(std::string_view line) {
  if (failed()) return std::nullopt;
  if (scopes_.empty() || scopes_.back().conditional < 0) {
    const std::string why = scopes_.empty() ? "no branch of a conditional is open"
                                            : Cat("subgraph '", scopes_.back().name, "' is open; end it first");
    Fail(absl::InvalidArgumentError(Cat(line, ": ", why)));
    return std::nullopt;
  }
  Scope left = scopes_.back();
  Leave();
  return left;
}

void PlanBuilder::If(BufferRef predicate, const std::string& name) {
  if (failed()) return;
  std::string why = WhyNot(predicate);
  if (why.empty()) why = WhyNotPredicate(plan_.buffer(predicate.id));
  if (!why.empty()) return Fail(absl::InvalidArgumentError(Cat("if: ", why)));
  const size_t first_line = plan_.lines.size();
  const int conditional = next_conditional_++;
  plan_.lines.emplace_back(wrapper::If{predicate.id});
  Enter(
      {.name = name.empty() ? Cat("then_", conditional) : name, .first_line = first_line, .conditional = conditional});
}

void PlanBuilder::Else(const std::string& name) {
  if (!failed() && !scopes_.empty() && scopes_.back().is_else) {
    return Fail(absl::InvalidArgumentError("else: the conditional has an else already"));
  }
  std::optional<Scope> left = LeaveBranch("else");
  if (!left.has_value()) return;
  plan_.lines.emplace_back(wrapper::Else{});
  Enter({.name = name.empty() ? Cat("else_", left->conditional) : name,
         .first_line = left->first_line,
         .conditional = left->conditional,
         .is_else = true});
}

void PlanBuilder::EndIf() {
  if (LeaveBranch("end_if").has_value()) plan_.lines.emplace_back(wrapper::EndIf{});
}

void PlanBuilder::EnterSubgraph(const std::string& name) {
  if (failed()) return;
  Enter({.name = name.empty() ? Cat("subgraph_", next_subgraph_++) : name, .first_line = plan_.lines.size()});
}

void PlanBuilder::ExitSubgraph() {
  if (failed()) return;
  if (scopes_.empty() || scopes_.back().conditional >= 0) {
    return Fail(absl::InvalidArgumentError("exit_subgraph: no subgraph is open that is not a branch"));
  }
  Leave();
}

}  // namespace telemetry::worker::wrapper
