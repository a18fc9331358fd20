#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "server/storage/readers/ir_graph_reader.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/graph_parts.h"
#include "server/web/api/graph_regions.h"
#include "server/web/api/graph_writer.h"
#include "server/web/api/run_scope.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using json::Whole;
using record::Cat;
using storage::sql::InRun;
using storage::sql::Statement;

constexpr int64_t kMostNodes = 20000;
constexpr int64_t kMostEdges = 60000;

absl::Status WriteSource(const Call& call, int64_t run, JsonWriter& out) {
  Statement sender(call.scratch,
                   "SELECT t.label, r.kernel FROM runs AS r JOIN texts AS t ON t.text = r.sender WHERE r.run = ?1");
  ASSIGN_OR_RETURN(const bool found, sender.Bind(run).Step());
  found ? WriteText(out, "sender", sender, 0) : out.Field("sender", nullptr);
  Statement source(call.dataset, "SELECT source FROM kernels WHERE kernel = ?1");
  ASSIGN_OR_RETURN(const bool has_source, source.Bind(found ? sender.Int(1) : 0).Step());
  has_source && !source.IsNull(0) ? out.Field("source", Whole{source.Text(0)}) : out.Field("source", nullptr);
  return absl::OkStatus();
}

void WriteHead(const v1::IrGraph& head, JsonWriter& out) {
  out.Field("kind", head.kind());
  head.has_schema_version() ? out.Field("schema_version", head.schema_version()) : out.Field("schema_version", nullptr);
  out.Field("directed", head.directed());
  const absl::StatusOr<record::Json> attributes = record::ParseJson(head.attributes_json());
  const bool is_object = attributes.ok() && attributes->kind == record::Json::Kind::kObject;
  out.Key("attributes");
  WriteJson(is_object ? *attributes : record::Json::Object(), out);
}

absl::Status WriteGraph(const std::string& graph, JsonWriter& out) {
  ASSIGN_OR_RETURN(const v1::IrGraph head, ParseGraphHead(graph));
  WriteHead(head, out);
  int64_t nodes = 0;
  out.BeginArray("nodes");
  RETURN_IF_ERROR(ForEachNode(graph, [&](const v1::IrNode& node) {
    if (++nodes <= kMostNodes) WriteNode(node, out);
  }));
  out.EndArray();
  int64_t edges = 0;
  out.BeginArray("edges");
  RETURN_IF_ERROR(ForEachEdge(graph, [&](const v1::IrEdge& edge) {
    if (++edges <= kMostEdges) WriteEdge(edge, out);
  }));
  out.EndArray();
  RETURN_IF_ERROR(WriteRegions(graph, out));
  out.Field("nodes_left_out", std::max<int64_t>(nodes - kMostNodes, 0));
  out.Field("edges_left_out", std::max<int64_t>(edges - kMostEdges, 0));
  return absl::OkStatus();
}

// Lists the graphs of runs.
class GraphLister {
 public:
  explicit GraphLister(storage::sql::Database& dataset)
      : graphs_(dataset,
                "SELECT g.ir_graph, g.kind, s.name FROM ir_graphs AS g JOIN runs AS r ON r.run = g.run "
                "LEFT JOIN senders AS s ON s.sender = r.sender WHERE g.run = ?1 ORDER BY g.kind LIMIT 20"),
        nodes_(dataset,
               {.text = "SELECT count(*) FROM ir_nodes", .key = storage::sql::kInRun, .where = "ir_graph = ?1"}),
        edges_(dataset,
               {.text = "SELECT count(*) FROM ir_edges", .key = storage::sql::kInRun, .where = "ir_graph = ?1"}) {}

  absl::Status Write(int64_t run, JsonWriter& out) {
    return ForEachRow(graphs_.Bind(run), [&]() -> absl::Status {
      const int64_t graph = graphs_.Int(0);
      ASSIGN_OR_RETURN(const std::optional<int64_t> nodes, nodes_.Bind(InRun{run}, graph).QueryInt());
      ASSIGN_OR_RETURN(const std::optional<int64_t> edges, edges_.Bind(InRun{run}, graph).QueryInt());
      out.BeginObject();
      WriteText(out, "kind", graphs_, 1);
      WriteText(out, "sender", graphs_, 2);
      out.Field("nodes", nodes);
      out.Field("edges", edges);
      out.EndObject();
      return absl::OkStatus();
    });
  }

 private:
  Statement graphs_;
  Statement nodes_;
  Statement edges_;
};

}  // namespace

absl::Status ListGraphs(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  GraphLister graphs(call.dataset);
  out.BeginObject();
  out.BeginArray("items");
  for (const int64_t run : scope.runs) RETURN_IF_ERROR(graphs.Write(run, out));
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetGraph(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "format"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  const std::string& kind = call.path[1];
  Statement find(call.dataset, Cat("SELECT run FROM ir_graphs WHERE kind = ?1 AND run IN (",
                                   absl::StrJoin(scope.runs, ", "), ") ORDER BY run LIMIT 1")
                                   .c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> run, find.Bind(kind).QueryInt());
  if (!run.has_value()) return absl::NotFoundError("the run has no graph of this kind");
  storage::readers::IrGraphReader reader(call.dataset);
  ASSIGN_OR_RETURN(const std::string graph, reader.Read(*run, scope.run_id, kind));
  out.BeginObject();
  RETURN_IF_ERROR(WriteSource(call, *run, out));
  RETURN_IF_ERROR(WriteGraph(graph, out));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
