#include "worker/codegen/emit/dot.h"

namespace telemetry::worker::codegen::emit {

TileValue EmitDot(TileCode& code, const ir::Graph& graph, int node, const ValueIn& value_in) {
  const ir::Node& dot = graph.nodes[static_cast<size_t>(node)];
  const auto& sets = code.uses().graphs.at(graph.id).operands.at(node);
  const auto operand = [&](size_t i) {
    return code.IsCopied(sets[i]) ? TileValue{.name = "", .set = sets[i]} : value_in(dot.args[i], sets[i]);
  };
  const TileValue a = operand(0);
  const TileValue b = operand(1);
  TileValue result = code.Declare(text::RegisterType::kFloat, dot.shape, 0);
  const bool accumulates = dot.args.size() > 2 && !std::holds_alternative<std::monostate>(dot.args[2].value);
  code.Assign(result,
              accumulates ? value_in(dot.args[2], 0) : TileValue{.name = "0.0f", .type = text::RegisterType::kFloat});
  const auto mma = code.mma().dots.find({graph.id, node});
  if (mma == code.mma().dots.end()) {
    AddDotFma(code, dot, a, b, result);
  } else {
    const bool a_has_rows = mma->second.row_operand == 0;
    const auto add = code.mma().by_warpgroups ? AddDotWgmma : AddDotMma;
    add(code, mma->second, dot.axis, a_has_rows ? a : b, a_has_rows ? b : a, result);
  }
  return result;
}

}  // namespace telemetry::worker::codegen::emit
