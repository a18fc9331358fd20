#include "worker/model/graph_features.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace telemetry::worker::model {
namespace {

constexpr std::array<std::string_view, 15> kTranscendental = {"exp",   "exp2", "expm1", "log",  "log2",
                                                              "log1p", "sqrt", "rsqrt", "tanh", "sigmoid",
                                                              "erf",   "sin",  "cos",   "pow",  "gelu"};
constexpr std::array<std::string_view, 9> kComparisons = {"eq", "ne",    "lt",      "le",      "gt",
                                                          "ge", "where", "mask_to", "_mask_to"};
constexpr std::array<std::string_view, 7> kDots = {"dot", "mm", "bmm", "addmm", "baddbmm", "matmul", "dot_scaled"};

// Returns the last word of a target, without an overload: "exp" of "torch._ops.aten.aten::exp" and of
// "aten.exp.default".
std::string_view NameOf(std::string_view target) {
  for (const std::string_view suffix : {".default", ".Tensor", ".Scalar", ".int"}) {
    if (target.ends_with(suffix)) target.remove_suffix(suffix.size());
  }
  const size_t at = target.find_last_of(".:");
  return at == std::string_view::npos ? target : target.substr(at + 1);
}

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

GraphCounts CountOperations(const v1::IrGraph& graph) {
  GraphCounts counts;
  std::set<int64_t> regions;
  for (const v1::IrNode& node : graph.nodes()) {
    // Repeats the operations of the graph whose reduction it computes in chunks.
    if (node.region_kind() == "ReductionLoopGraphInfo") continue;
    ++counts.nodes;
    regions.insert(node.graph_id());
    const std::string_view name = NameOf(node.target());
    counts.loads += name == "load" ? 1 : 0;
    counts.stores += name == "store" ? 1 : 0;
    counts.pointwise += node.lowering_class() == "PointwiseLowering" ? 1 : 0;
    counts.transcendental += IsOneOf(name, kTranscendental) ? 1 : 0;
    counts.comparisons += IsOneOf(name, kComparisons) ? 1 : 0;
    counts.reductions += node.lowering_class() == "ReductionLowering" ? 1 : 0;
    counts.dots += IsOneOf(name, kDots) ? 1 : 0;
  }
  counts.regions = static_cast<int>(regions.size());
  return counts;
}

void AddGraphFeatures(const GraphCounts* counts, FeatureRow* row) {
  const auto add = [&](std::string_view name, int GraphCounts::*count) {
    row->Add(name, counts == nullptr ? kNotKnown : static_cast<double>(counts->*count));
  };
  add("graph.nodes", &GraphCounts::nodes);
  add("graph.regions", &GraphCounts::regions);
  add("graph.loads", &GraphCounts::loads);
  add("graph.stores", &GraphCounts::stores);
  add("graph.pointwise", &GraphCounts::pointwise);
  add("graph.transcendental", &GraphCounts::transcendental);
  add("graph.comparisons", &GraphCounts::comparisons);
  add("graph.reductions", &GraphCounts::reductions);
  add("graph.dots", &GraphCounts::dots);
}

}  // namespace telemetry::worker::model
