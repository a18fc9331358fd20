#include "worker/wrapper/program/fx_conditional.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace telemetry::worker::wrapper::program {
namespace {

// The buffers that lines read, and the memory that they write.
struct Accesses {
  std::set<int> read;
  std::set<int> written;  // buffers that own memory
  std::set<int> made;     // also views
};

Accesses FindAccesses(const Plan& plan, const std::vector<Place>& places, size_t first, size_t last) {
  Accesses found;
  for (size_t i = first; i <= last; ++i) {
    const Line& line = plan.lines[i];
    const LineEffects effects = ComputeEffects(line);
    found.made.insert(effects.makes.begin(), effects.makes.end());
    if (const auto* view = std::get_if<Reinterpret>(&line)) {
      // A view is made from the memory itself.
      found.made.insert(view->view);
      found.read.insert(places[static_cast<size_t>(view->base)].root);
      continue;
    }
    found.read.insert(effects.uses.begin(), effects.uses.end());
    if (const KernelCall* call = AsKernelCall(line)) found.written.insert(call->outputs.begin(), call->outputs.end());
    if (const std::optional<Update> update = AsUpdate(line)) found.written.insert(update->target);
    if (const auto* joined = std::get_if<Concatenate>(&line)) found.written.insert(joined->output);
  }
  return found;
}

}  // namespace

FxConditional FindConditional(const Plan& plan, const Subgraphs& subgraphs, size_t first) {
  FxConditional made = {.last = subgraphs.ends[first]};
  for (const Subgraph& subgraph : subgraphs.all) {
    if (subgraph.first == first && subgraph.enter != first) made.branches.push_back(subgraph);
  }
  const std::vector<Place> places = ComputePlaces(plan);
  // The predicate of this conditional is no operand.
  const Accesses accesses = FindAccesses(plan, places, first + 1, made.last);
  const auto is_from_before = [&](int id) { return !accesses.made.contains(id); };
  std::copy_if(accesses.written.begin(), accesses.written.end(), std::back_inserter(made.written), is_from_before);
  for (const int id : accesses.read) {
    if (!is_from_before(id)) continue;
    const int root = places[static_cast<size_t>(id)].root;
    const bool is_written = std::find(made.written.begin(), made.written.end(), root) != made.written.end();
    if (!is_written) made.operands.push_back(id);
    if (is_written && root != id) made.views.push_back(id);
  }
  made.operands.insert(made.operands.end(), made.written.begin(), made.written.end());
  return made;
}

}  // namespace telemetry::worker::wrapper::program
