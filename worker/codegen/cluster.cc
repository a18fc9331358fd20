#include "worker/codegen/cluster.h"

#include <algorithm>

#include "worker/codegen/access.h"
#include "worker/codegen/dialect.h"
#include "worker/codegen/plan.h"

namespace telemetry::worker::codegen {
namespace {

using ir::Op;

constexpr int kFirstWithClusters = 90;

constexpr std::string_view kArrive = R"(FN void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
)";
constexpr std::string_view kWait = R"(FN void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
)";
constexpr std::string_view kRead = R"(FN u32 cluster_read(const void* own, int rank) {
  const u32 here = (u32)__cvta_generic_to_shared(own);
  u32 there, word;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(there) : "memory");
  return word;
}
)";

bool IsReduction(const ir::Node& node) {
  return node.op == Op::kSum || node.op == Op::kAMax || node.op == Op::kAMin || node.op == Op::kProd ||
         node.op == Op::kArgMax;
}

bool Reduces(const ir::DeviceIr& ir) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), IsReduction);
  });
}

// Reports whether a tile may read data that another block of the cluster writes, in which case the blocks would have to
// wait for each other. A stored argument counts, because it may alias another argument.
bool MayReadWhatItWrites(const ir::DeviceIr& ir) {
  const std::vector<Access> accesses = AccessesOf(ir);
  const auto tensor_of = [&ir](const Access& access) {
    const ir::Graph& graph = ir.graphs[static_cast<size_t>(access.graph)];
    return TensorOf(graph, graph.nodes[static_cast<size_t>(access.node)]);
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

bool HasClusters(const Target& target) { return target.dialect == Dialect::kCuda && target.sm >= kFirstWithClusters; }

std::string ClusterRequirement() { return "CUDA and sm_90 or later"; }

void AddClusterFunctions(DialectText* dialect) {
  dialect->AddFunction("cluster_arrive", std::string(kArrive));
  dialect->AddFunction("cluster_wait", std::string(kWait));
  dialect->AddFunction("cluster_read", std::string(kRead));
}

}  // namespace telemetry::worker::codegen
