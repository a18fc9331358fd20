#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Subgraphs and conditionals of a plan.

// The maximum number of subgraphs around a line.
inline constexpr size_t kMostSubgraphDepth = 16;

// Returns the reason why a buffer cannot be the predicate of a conditional; empty if it can. A predicate is bool or i32
// and has one element. It is true if the element is not 0.
std::string WhyNotPredicate(const PlanBuffer& buffer);

// A subgraph. The numbers of lines are indices in Plan::lines.
struct Subgraph {
  std::string name;
  int parent = -1;   // index of the subgraph around it; -1: none
  size_t enter = 0;  // the line EnterSubgraph
  size_t exit = 0;   // the line ExitSubgraph
  size_t first = 0;  // `enter`, or, if the subgraph is a branch, the line If
  size_t last = 0;   // `exit`, or, if the subgraph is a branch, the line EndIf
};

// The subgraphs and conditionals of a plan, by line.
struct Subgraphs {
  std::vector<Subgraph> all;  // in the order of their first lines
  // By line: the innermost subgraph that contains it, or -1. The lines EnterSubgraph and ExitSubgraph, and the
  // conditional of a branch, belong to the lines around the subgraph.
  std::vector<int> of_line;
  // By line, for If: the line to continue with if the predicate is 0. For Else, which is reached at the end of the
  // first branch: the line to continue with. Otherwise the next line.
  std::vector<size_t> jumps;
  // By line, for If: the line EndIf. Otherwise the line itself.
  std::vector<size_t> ends;

  // Returns the first and the last line of the part of `subgraph` (-1: of the plan) that contains a line, which is in
  // `subgraph`. A part is a line, or a subgraph or conditional with all of its lines.
  struct Part {
    size_t first;
    size_t last;
  };
  Part PartOf(size_t line, int subgraph) const;
};

// Returns the subgraphs of a plan whose subgraphs and conditionals are closed and correctly nested, as in a verified
// plan.
Subgraphs FindSubgraphs(const Plan& plan);

// Returns, by buffer, true for the inputs that only If lines read, also through views.
std::vector<bool> FindScalarInputs(const Plan& plan);

}  // namespace telemetry::worker::wrapper
