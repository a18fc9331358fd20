#include "server/web/api/graph_regions.h"

#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "server/web/api/common.h"
#include "server/web/api/graph_parts.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;

struct Region {
  std::optional<std::string> kind;  // of its first node
  std::string block_ids_json;       // of its first node
  int64_t nodes = 0;
  std::optional<int64_t> parent;
  std::string entry_node;
};
using Regions = std::map<int64_t, Region>;

void AddNode(const v1::IrNode& node, Regions* regions) {
  Region& region = (*regions)[node.graph_id()];
  if (region.nodes++ > 0) return;
  if (node.has_region_kind()) region.kind = node.region_kind();
  region.block_ids_json = node.block_ids_json();
}

absl::StatusOr<Regions> FindRegions(const std::string& graph) {
  Regions regions;
  absl::flat_hash_map<std::string, int64_t> region_of;
  RETURN_IF_ERROR(ForEachNode(graph, [&](const v1::IrNode& node) {
    AddNode(node, &regions);
    region_of.emplace(node.id(), node.graph_id());
  }));
  RETURN_IF_ERROR(ForEachEdge(graph, [&](const v1::IrEdge& edge) {
    const auto source = region_of.find(edge.source());
    const auto target = region_of.find(edge.target());
    const bool enters = edge.edge_kind() == "region" && source != region_of.end() && target != region_of.end() &&
                        source->second != target->second;
    if (!enters) return;
    Region& region = regions[target->second];
    if (region.parent.has_value()) return;
    region.parent = source->second;
    region.entry_node = edge.source();
  }));
  return regions;
}

void WriteRegion(int64_t id, const Region& region, JsonWriter& out) {
  const absl::StatusOr<record::Json> blocks = record::ParseJson(region.block_ids_json);
  out.BeginObject();
  out.Field("graph_id", id);
  out.Field("region_kind", region.kind);
  out.Key("block_ids");
  blocks.ok() && blocks->kind == record::Json::Kind::kArray ? WriteJson(*blocks, out) : out.Value(nullptr);
  out.Field("nodes", region.nodes);
  out.Field("parent", region.parent);
  region.parent.has_value() ? out.Field("entry_node", region.entry_node) : out.Field("entry_node", nullptr);
  out.EndObject();
}

}  // namespace

absl::Status WriteRegions(const std::string& graph, JsonWriter& out) {
  ASSIGN_OR_RETURN(const Regions regions, FindRegions(graph));
  out.BeginArray("regions");
  for (const auto& [id, region] : regions) WriteRegion(id, region, out);
  out.EndArray();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
