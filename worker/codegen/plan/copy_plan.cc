#include "worker/codegen/plan/copy_plan.h"

namespace telemetry::worker::codegen::plan {

std::vector<std::optional<SharedCopy>> PlanCopies(const Plan& plan, const Uses& uses, const MmaPlan& mma) {
  std::vector<std::optional<SharedCopy>> copies(uses.stagings.size() + 1);
  for (size_t i = 0; i < uses.stagings.size(); ++i) {
    const Staging& staging = uses.stagings[i];
    const auto found = mma.dots.find({staging.graph, staging.dot});
    if (staging.load < 0 || found == mma.dots.end()) continue;
    const MmaDot& dot = found->second;
    const ir::Graph& graph = plan.ir->graphs[static_cast<size_t>(staging.graph)];
    copies[i + 1] = {.graph = staging.load_graph,
                     .load = staging.load,
                     .user = staging.graph,
                     .type = dot.type,
                     .own = staging.operand == dot.row_operand ? dot.row : dot.column,
                     .summed = graph.nodes[static_cast<size_t>(staging.dot)].axis,
                     .may_run_ahead = staging.load_graph == staging.graph && !HasEffects(plan, graph)};
  }
  return copies;
}

}  // namespace telemetry::worker::codegen::plan
