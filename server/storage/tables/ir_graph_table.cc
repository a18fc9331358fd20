#include "server/storage/tables/ir_graph_table.h"

#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/storage/tables/text_field.h"

namespace telemetry::storage::tables {
namespace {

// Returns NULL if the record had every key, which is nearly always the case.
template <typename Message>
OptionalText OmittedJson(const Message& message) {
  if (message.omitted_size() == 0) return std::nullopt;
  record::Json keys = record::Json::Array();
  for (const std::string& key : message.omitted()) keys.items.push_back(record::Json::String(key));
  return record::ToJson(keys);
}

// Returns the statement for the rows of IR graph ?1.
constexpr sql::StatementText RowsOfGraph(const char* text) {
  return {.text = text, .key = sql::kInRun, .where = "ir_graph = ?1"};
}

}  // namespace

IrGraphTable::IrGraphTable(sql::Database& database, RunTable& runs, const CurrentSender& sender)
    : runs_(runs),
      sender_(sender),
      find_(database,
            "SELECT ir_graph, content_sha256, coalesce(sender, 0) FROM ir_graphs WHERE run = ?1 AND kind = ?2"),
      insert_(database,
              "INSERT INTO ir_graphs (run, kind, schema_version, directed, multigraph, attributes_json, extra_json, "
              "content_sha256, sender) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING ir_graph"),
      insert_node_(
          database,
          sql::BulkInsert{.table = "ir_nodes",
                          .columns = "ir_graph, ordinal, id, graph_id, region_kind, block_ids_json, op_kind, target, "
                                     "lowering_class, dtype, shape_json, concrete_shape_json, stride_json, "
                                     "concrete_stride_json, device, value_json, input_dtypes_json, input_shapes_json, "
                                     "reduction_type, reduction_ranges_json, pointwise_ranges_json, source_loc, "
                                     "omitted_json, extra_json",
                          .in_run = true}),
      insert_edge_(
          database,
          sql::BulkInsert{.table = "ir_edges",
                          .columns = "ir_graph, ordinal, source, target, edge_kind, arg_positions_json, dtype, "
                                     "shape_json, omitted_json, extra_json",
                          .in_run = true}),
      drop_nodes_(database, RowsOfGraph("DELETE FROM ir_nodes")),
      drop_edges_(database, RowsOfGraph("DELETE FROM ir_edges")),
      drop_(database, RowsOfGraph("DELETE FROM ir_graphs")) {}

absl::Status IrGraphTable::Store(const v1::IrGraph& graph) {
  ASSIGN_OR_RETURN(int64_t run, runs_.FindOrInsertKey(graph.run_id()));
  const std::string digest = record::Sha256(graph.SerializeAsString());
  absl::StatusOr<bool> wanted = MakeRoom(run, graph, digest);
  if (!wanted.ok() || !*wanted) return wanted.status();

  const auto schema_version =
      graph.has_schema_version() ? std::optional<int64_t>(graph.schema_version()) : std::nullopt;
  ASSIGN_OR_RETURN(const std::optional<int64_t> ir_graph,
                   insert_
                       .Bind(run, graph.kind(), schema_version, graph.directed(), graph.multigraph(),
                             graph.attributes_json(), graph.extra_json(), sql::Blob{digest}, sender_.column())
                       .QueryInt());
  absl::Status status = InsertNodes(run, *ir_graph, graph);
  return status.ok() ? InsertEdges(run, *ir_graph, graph) : status;
}

absl::StatusOr<bool> IrGraphTable::MakeRoom(int64_t run, const v1::IrGraph& graph, const std::string& digest) {
  ASSIGN_OR_RETURN(bool found, find_.Bind(run, graph.kind()).Step());
  if (!found) return true;
  const int64_t stored = find_.Int(0);
  const bool gives_way = digest < find_.Bytes(1) && !sender_.IsForeignTo(find_.Int(2));
  find_.Reset();
  if (!gives_way) return false;
  for (sql::Statement* drop : {&drop_nodes_, &drop_edges_, &drop_}) {
    RETURN_IF_ERROR(drop->Bind(sql::InRun{run}, stored).Run());
  }
  return true;
}

absl::Status IrGraphTable::InsertNodes(int64_t run, int64_t ir_graph, const v1::IrGraph& graph) {
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const v1::IrNode& node = graph.nodes(i);
    const OptionalText omitted = OmittedJson(node);
    RETURN_IF_ERROR(insert_node_
                        .Bind(sql::InRun{run}, ir_graph, i, node.id(), int64_t{node.graph_id()},
                              TELEMETRY_OPTIONAL(node, region_kind), TELEMETRY_OPTIONAL(node, block_ids_json),
                              TELEMETRY_OPTIONAL(node, op_kind), TELEMETRY_OPTIONAL(node, target),
                              TELEMETRY_OPTIONAL(node, lowering_class), TELEMETRY_OPTIONAL(node, dtype),
                              TELEMETRY_OPTIONAL(node, shape_json), TELEMETRY_OPTIONAL(node, concrete_shape_json),
                              TELEMETRY_OPTIONAL(node, stride_json), TELEMETRY_OPTIONAL(node, concrete_stride_json),
                              TELEMETRY_OPTIONAL(node, device), TELEMETRY_OPTIONAL(node, value_json),
                              TELEMETRY_OPTIONAL(node, input_dtypes_json), TELEMETRY_OPTIONAL(node, input_shapes_json),
                              TELEMETRY_OPTIONAL(node, reduction_type), TELEMETRY_OPTIONAL(node, reduction_ranges_json),
                              TELEMETRY_OPTIONAL(node, pointwise_ranges_json), TELEMETRY_OPTIONAL(node, source_loc),
                              omitted, node.extra_json())
                        .Run());
  }
  return absl::OkStatus();
}

absl::Status IrGraphTable::InsertEdges(int64_t run, int64_t ir_graph, const v1::IrGraph& graph) {
  for (int i = 0; i < graph.edges_size(); ++i) {
    const v1::IrEdge& edge = graph.edges(i);
    const OptionalText omitted = OmittedJson(edge);
    RETURN_IF_ERROR(insert_edge_
                        .Bind(sql::InRun{run}, ir_graph, i, edge.source(), edge.target(),
                              TELEMETRY_OPTIONAL(edge, edge_kind), TELEMETRY_OPTIONAL(edge, arg_positions_json),
                              TELEMETRY_OPTIONAL(edge, dtype), TELEMETRY_OPTIONAL(edge, shape_json), omitted,
                              edge.extra_json())
                        .Run());
  }
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
