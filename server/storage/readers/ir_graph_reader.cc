#include "server/storage/readers/ir_graph_reader.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"

namespace telemetry::storage::readers {
namespace {

template <typename Message>
absl::Status SetOmitted(const sql::Statement& row, int column, Message* message) {
  if (row.IsNull(column)) return absl::OkStatus();
  absl::StatusOr<record::Json> keys = record::ParseJson(row.Text(column));
  if (!keys.ok()) return absl::DataLossError("omitted_json is not JSON: check the database");
  for (record::Json& key : keys->items) message->add_omitted(std::move(key.text));
  return absl::OkStatus();
}

}  // namespace

IrGraphReader::IrGraphReader(sql::Database& database)
    : kinds_(database, "SELECT kind FROM ir_graphs WHERE run = ?1 ORDER BY kind"),
      read_(database,
            "SELECT ir_graph, schema_version, directed, multigraph, attributes_json, extra_json FROM ir_graphs "
            "WHERE run = ?1 AND kind = ?2"),
      read_nodes_(
          database,
          {.text =
               "SELECT id, graph_id, region_kind, block_ids_json, op_kind, target, lowering_class, dtype, shape_json, "
               "concrete_shape_json, stride_json, concrete_stride_json, device, value_json, input_dtypes_json, "
               "input_shapes_json, reduction_type, reduction_ranges_json, pointwise_ranges_json, source_loc, "
               "omitted_json, extra_json FROM ir_nodes",
           .key = sql::kInRun,
           .where = "ir_graph = ?1 ORDER BY ordinal"}),
      read_edges_(
          database,
          {.text = "SELECT source, target, edge_kind, arg_positions_json, dtype, shape_json, omitted_json, extra_json "
                   "FROM ir_edges",
           .key = sql::kInRun,
           .where = "ir_graph = ?1 ORDER BY ordinal"}) {}

absl::StatusOr<std::vector<std::string>> IrGraphReader::Kinds(int64_t run) {
  std::vector<std::string> kinds;
  kinds_.Bind(run);
  while (true) {
    ASSIGN_OR_RETURN(bool found, kinds_.Step());
    if (!found) return kinds;
    kinds.push_back(kinds_.String(0));
  }
}

absl::StatusOr<std::string> IrGraphReader::Read(int64_t run, const std::string& run_id, const std::string& kind) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(run, kind).Step());
  if (!found) return absl::NotFoundError(absl::StrCat("run ", run_id, " has no IR graph of kind ", kind));
  v1::IrGraph graph;
  graph.set_run_id(run_id);
  graph.set_kind(kind);
  const int64_t key = read_.Int(0);
  if (!read_.IsNull(1)) graph.set_schema_version(read_.Int(1));
  graph.set_directed(read_.Int(2) != 0);
  graph.set_multigraph(read_.Int(3) != 0);
  graph.set_attributes_json(read_.String(4));
  graph.set_extra_json(read_.String(5));
  read_.Reset();
  std::string serialised = graph.SerializeAsString();
  absl::Status status = AppendNodes(run, key, &serialised);
  if (status.ok()) status = AppendEdges(run, key, &serialised);
  if (!status.ok()) return status;
  return serialised;
}

absl::Status IrGraphReader::AppendNodes(int64_t run, int64_t ir_graph, std::string* graph) {
  // The optional text columns, in the order of the SELECT.
  using Setter = void (*)(v1::IrNode*, std::string);
  static constexpr Setter kColumns[] = {
      [](v1::IrNode* n, std::string v) { n->set_region_kind(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_block_ids_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_op_kind(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_target(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_lowering_class(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_dtype(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_shape_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_concrete_shape_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_stride_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_concrete_stride_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_device(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_value_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_input_dtypes_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_input_shapes_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_reduction_type(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_reduction_ranges_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_pointwise_ranges_json(std::move(v)); },
      [](v1::IrNode* n, std::string v) { n->set_source_loc(std::move(v)); },
  };
  constexpr int kFirst = 2;
  constexpr int kOmitted = kFirst + std::size(kColumns);
  read_nodes_.Bind(sql::InRun{run}, ir_graph);
  while (true) {
    absl::StatusOr<bool> found = read_nodes_.Step();
    if (!found.ok() || !*found) return found.status();
    v1::IrGraph part;
    v1::IrNode* node = part.add_nodes();
    node->set_id(read_nodes_.String(0));
    node->set_graph_id(read_nodes_.Int(1));
    for (int column = kFirst; column < kOmitted; ++column) {
      if (!read_nodes_.IsNull(column)) kColumns[column - kFirst](node, read_nodes_.String(column));
    }
    RETURN_IF_ERROR(SetOmitted(read_nodes_, kOmitted, node));
    node->set_extra_json(read_nodes_.String(kOmitted + 1));
    part.AppendToString(graph);
  }
}

absl::Status IrGraphReader::AppendEdges(int64_t run, int64_t ir_graph, std::string* graph) {
  read_edges_.Bind(sql::InRun{run}, ir_graph);
  while (true) {
    absl::StatusOr<bool> found = read_edges_.Step();
    if (!found.ok() || !*found) return found.status();
    v1::IrGraph part;
    v1::IrEdge* edge = part.add_edges();
    edge->set_source(read_edges_.String(0));
    edge->set_target(read_edges_.String(1));
    if (!read_edges_.IsNull(2)) edge->set_edge_kind(read_edges_.String(2));
    if (!read_edges_.IsNull(3)) edge->set_arg_positions_json(read_edges_.String(3));
    if (!read_edges_.IsNull(4)) edge->set_dtype(read_edges_.String(4));
    if (!read_edges_.IsNull(5)) edge->set_shape_json(read_edges_.String(5));
    RETURN_IF_ERROR(SetOmitted(read_edges_, 6, edge));
    edge->set_extra_json(read_edges_.String(7));
    part.AppendToString(graph);
  }
}

}  // namespace telemetry::storage::readers
