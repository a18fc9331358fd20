#include "worker/codegen/cluster.h"

#include <algorithm>

#include "worker/codegen/access.h"
#include "worker/codegen/kernel_facts.h"

namespace telemetry::worker::codegen {
namespace {

constexpr int kFirstWithClusters = 90;

bool Reduces(const ir::DeviceIr& ir) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const ir::Node& node) { return ir::IsReduction(node.op); });
  });
}

// Reports whether a tile may read data that another block of the cluster writes, in which case the blocks would have to
// wait for each other. A stored argument counts, because it may alias another argument.
bool MayReadWhatItWrites(const ir::DeviceIr& ir) {
  const std::vector<Access> accesses = ListAccesses(ir);
  const auto tensor_of = [&ir](const Access& access) {
    const ir::Graph& graph = ir.graphs[static_cast<size_t>(access.graph)];
    return AccessedTensor(graph, graph.nodes[static_cast<size_t>(access.node)]);
  };
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& store) {
    if (!store.is_store) return false;
    const int written = tensor_of(store);
    if (!ir.tensors[static_cast<size_t>(written)].is_output) return true;
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const Access& load) { return !load.is_store && tensor_of(load) == written; });
  });
}

}  // namespace

bool SuitsClusters(const ir::DeviceIr& ir) { return Reduces(ir) && !HasDot(ir) && !MayReadWhatItWrites(ir); }

bool HasClusters(const Target& target) {
  return target.dialect == device::Dialect::kCuda && target.sm >= kFirstWithClusters;
}

std::string ClusterRequirement() { return "CUDA and sm_90 or later"; }

}  // namespace telemetry::worker::codegen
