#include "worker/wrapper/wrapper_graph.h"

#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper {

using record::Cat;
using record::Json;

namespace {

constexpr std::string_view kRegionKind = "WrapperGraphInfo";
constexpr std::string_view kSubgraphKind = "WrapperSubgraphInfo";

Json Numbers(absl::Span<const int64_t> values) {
  Json list = Json::Array();
  for (const int64_t value : values) list.items.push_back(Json::Integer(value));
  return list;
}

// Returns sizes as text. They are known when a plan is built; the record also has them as text because the sizes of
// other graphs can be symbols.
Json Texts(absl::Span<const int64_t> values) {
  Json list = Json::Array();
  for (const int64_t value : values) list.items.push_back(Json::String(Cat(value)));
  return list;
}

Json ScalarsJson(const kernels::Numbers& scalars) {
  Json object = Json::Object();
  for (const auto& [name, value] : scalars) {
    std::string text = record::FloatRepr(value);
    object.members.emplace_back(name,
                                std::isfinite(value) ? Json::Number(std::move(text)) : Json::String(std::move(text)));
  }
  return object;
}

struct LineTarget {
  std::string_view operator()(const DefineKernel&) const { return ""; }
  std::string_view operator()(const Allocate&) const { return "allocate"; }
  std::string_view operator()(const Free&) const { return "free"; }
  std::string_view operator()(const FreeIfNotReused&) const { return "free_if_not_reused"; }
  std::string_view operator()(const Reuse&) const { return "reuse"; }
  std::string_view operator()(const Reinterpret&) const { return "reinterpret"; }
  std::string_view operator()(const CallKernel&) const { return "call_kernel"; }
  std::string_view operator()(const CallExtern&) const { return "call_extern"; }
  std::string_view operator()(const CallExternAllocating&) const { return "call_extern_allocating"; }
  std::string_view operator()(const Unpack&) const { return "unpack"; }
  std::string_view operator()(const IndexPut&) const { return "index_put"; }
  std::string_view operator()(const Scatter&) const { return "scatter"; }
  std::string_view operator()(const Concatenate&) const { return "concatenate"; }
  std::string_view operator()(const EnterSubgraph&) const { return ""; }
  std::string_view operator()(const ExitSubgraph&) const { return ""; }
  std::string_view operator()(const If&) const { return "if"; }
  std::string_view operator()(const Else&) const { return ""; }
  std::string_view operator()(const EndIf&) const { return "end_if"; }
  std::string_view operator()(const Comment&) const { return ""; }
};

class GraphWriter {
 public:
  GraphWriter(const Plan& plan, const std::string& device)
      : plan_(plan),
        device_(device),
        places_(ComputePlaces(plan)),
        subgraphs_(FindSubgraphs(plan)),
        made_by_(plan.buffers.size()),
        written_by_(plan.buffers.size()) {}

  v1::IrGraph Write() {
    graph_.set_kind("wrapper");
    graph_.set_schema_version(1);
    graph_.set_directed(true);
    graph_.set_attributes_json(record::ToJson(Attributes()));
    for (const int id : plan_.inputs) AddBufferNode("placeholder", plan_.buffer(id).name, id);
    for (size_t i = 0; i < plan_.lines.size(); ++i) {
      graph_id_ = subgraphs_.of_line[i] + 1;
      AddLine(i, plan_.lines[i]);
    }
    graph_id_ = 0;
    const std::string output = "g0:output";
    AddNode(output, "output", "output");
    for (size_t i = 0; i < plan_.outputs.size(); ++i) Read(plan_.outputs[i], output, i);
    for (int i = 0; i < graph_.edges_size(); ++i) {
      graph_.mutable_edges(i)->set_arg_positions_json(record::ToJson(Numbers(positions_[static_cast<size_t>(i)])));
    }
    return std::move(graph_);
  }

 private:
  Json Attributes() const {
    Json kernels = Json::Array();
    for (const PlanKernel& kernel : plan_.kernels) {
      Json entry = Json::Object();
      entry.members = {{"name", Json::String(kernel.name)},
                       {"kernel", Json::String(kernel.library->name)},
                       {"problem", Json::String(kernel.problem.ToString())}};
      kernels.items.push_back(std::move(entry));
    }
    Json regions = Json::Array();
    regions.items.push_back(Region(0, kRegionKind));
    for (const Subgraph& subgraph : subgraphs_.all) {
      regions.items.push_back(Region(static_cast<int64_t>(regions.items.size()), kSubgraphKind));
      regions.items.back().members.emplace_back("name", Json::String(subgraph.name));
    }
    const auto count = static_cast<int64_t>(regions.items.size());
    Json attributes = Json::Object();
    attributes.members = {{"num_graphs", Json::Integer(count)}, {"root_ids", Numbers({0})},
                          {"graphs", std::move(regions)},       {"rolled_reductions", Json::Array()},
                          {"plan", Json::String(plan_.name)},   {"kernels", std::move(kernels)}};
    return attributes;
  }

  static Json Region(int64_t id, std::string_view kind) {
    Json region = Json::Object();
    region.members = {{"graph_id", Json::Integer(id)},
                      {"region_kind", Json::String(std::string(kind))},
                      {"block_ids", Json::Array()}};
    return region;
  }

  v1::IrNode* AddNode(const std::string& id, std::string_view op_kind, std::string_view target) {
    v1::IrNode* node = graph_.add_nodes();
    node->set_id(id);
    node->set_region_kind(std::string(graph_id_ == 0 ? kRegionKind : kSubgraphKind));
    node->set_block_ids_json("[]");
    node->set_op_kind(std::string(op_kind));
    node->set_target(std::string(target));
    return node;
  }

  // Adds the node that makes a buffer.
  v1::IrNode* AddBufferNode(std::string_view op_kind, std::string_view target, int id) {
    const PlanBuffer& buffer = plan_.buffer(id);
    const std::string name = Cat("g", graph_id_, ":", buffer.name);
    v1::IrNode* node = AddNode(name, op_kind, target);
    node->set_dtype(std::string(TorchName(buffer.dtype)));
    node->set_shape_json(record::ToJson(Texts(buffer.sizes)));
    node->set_concrete_shape_json(record::ToJson(Numbers(buffer.sizes)));
    node->set_stride_json(record::ToJson(Texts(buffer.strides)));
    node->set_concrete_stride_json(record::ToJson(Numbers(buffer.strides)));
    node->set_device(device_);
    made_by_[static_cast<size_t>(id)] = name;
    return node;
  }

  void AddLine(size_t index, const Line& line) {
    const std::string_view target = std::visit(LineTarget(), line);
    if (std::holds_alternative<Else>(line)) AddElse();
    if (target.empty()) return;
    if (const auto* condition = std::get_if<If>(&line)) {
      AddIf(LineId(index, Cat(target)), index, *condition);
    } else if (std::holds_alternative<EndIf>(line)) {
      AddEndIf(LineId(index, Cat(target)));
    } else if (const KernelCall* call = AsKernelCall(line); call != nullptr) {
      AddCall(index, line, target, *call);
    } else if (const auto* joined = std::get_if<Concatenate>(&line)) {
      AddConcatenate(LineId(index, Cat(target)), *joined);
    } else if (const std::optional<Update> update = AsUpdate(line)) {
      AddUpdate(LineId(index, Cat(target)), line, *update);
    } else if (const auto* allocate = std::get_if<Allocate>(&line)) {
      AddBufferNode("call_function", target, allocate->buffer);
    } else if (const auto* reuse = std::get_if<Reuse>(&line)) {
      AddBufferNode("call_function", target, reuse->to);
      Take(reuse->from, MadeBy(reuse->to), 0);
    } else if (const auto* view = std::get_if<Reinterpret>(&line)) {
      v1::IrNode* node = AddBufferNode("call_function", target, view->view);
      node->set_value_json(record::ToJson(Json::Integer(view->offset)));
      Read(view->base, MadeBy(view->view), 0);
      seen_write_[view->view] = WrittenBy(view->base);
    } else if (const auto* unpack = std::get_if<Unpack>(&line)) {
      v1::IrNode* node = AddBufferNode("call_function", target, unpack->buffer);
      node->set_value_json(record::ToJson(Json::Integer(unpack->index)));
      AddEdge(packs_[unpack->pack], MadeBy(unpack->buffer), "data", 0, unpack->buffer);
    } else {
      const int freed = ComputeEffects(line).frees;
      const std::string id = LineId(index, plan_.buffer(freed).name);
      AddNode(id, "call_function", target);
      Take(freed, id, 0);
    }
  }

  void AddCall(size_t index, const Line& line, std::string_view target, const KernelCall& call) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const std::string id = LineId(index, kernel.name);
    v1::IrNode* node = AddNode(id, "call_function", target);
    node->set_lowering_class(kernel.name);
    node->set_value_json(record::ToJson(ScalarsJson(call.scalars)));
    Json dtypes = Json::Array();
    Json shapes = Json::Array();
    for (const int argument : call.arguments) {
      dtypes.items.push_back(Json::String(std::string(TorchName(plan_.buffer(argument).dtype))));
      shapes.items.push_back(Texts(plan_.buffer(argument).sizes));
    }
    node->set_input_dtypes_json(record::ToJson(dtypes));
    node->set_input_shapes_json(record::ToJson(shapes));

    for (size_t i = 0; i < call.arguments.size(); ++i) Read(call.arguments[i], id, i);
    const auto* allocating = std::get_if<CallExternAllocating>(&line);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const int output = call.outputs[i];
      // Memory that no line wrote has a data edge from the node that made it.
      const bool is_read = kernel.source != nullptr && kernel.source->outputs[i].is_read;
      const bool is_made_only = is_read && WrittenBy(output).empty();
      if (is_read) Read(output, id, call.arguments.size() + i);
      if (allocating == nullptr && !is_made_only) Take(output, id, call.arguments.size() + i);
      if (allocating != nullptr && !allocating->pack.empty()) continue;  // Unpack makes the parts
      if (allocating != nullptr) made_by_[static_cast<size_t>(output)] = id;
      WrittenBy(output) = id;
    }
    if (allocating != nullptr && !allocating->pack.empty()) packs_[allocating->pack] = id;
  }

  void AddConcatenate(const std::string& id, const Concatenate& line) {
    v1::IrNode* node = AddNode(id, "call_function", "concatenate");
    Json value = Json::Object();
    value.members.emplace_back("dimension", Json::Integer(line.dimension));
    node->set_value_json(record::ToJson(value));
    for (size_t i = 0; i < line.tensors.size(); ++i) Read(line.tensors[i], id, i);
    Take(line.output, id, line.tensors.size());
    WrittenBy(line.output) = id;
  }

  void AddUpdate(const std::string& id, const Line& line, const Update& put) {
    v1::IrNode* node = AddNode(id, "call_function", std::visit(LineTarget(), line));
    Json value = Json::Object();
    if (const auto* scatter = std::get_if<Scatter>(&line)) {
      value.members.emplace_back("dimension", Json::Integer(scatter->dimension));
      value.members.emplace_back("reduce", Json::String(Cat(ReductionName(scatter->reduction))));
      if (scatter->values < 0) value.members.emplace_back("number", Json::Number(record::FloatRepr(scatter->number)));
    } else {
      value.members.emplace_back("accumulate", Json::Bool(std::get<IndexPut>(line).accumulate));
    }
    node->set_value_json(record::ToJson(value));
    const bool is_written = !WrittenBy(put.target).empty();
    Read(put.target, id, 0);
    Read(put.indices, id, 1);
    if (put.values >= 0) Read(put.values, id, 2);
    // Memory that no line wrote has a data edge from the node that made it.
    if (is_written) Take(put.target, id, 0);
    WrittenBy(put.target) = id;
  }

  void AddIf(const std::string& id, size_t index, const If& line) {
    Json graphs = Json::Array();
    for (size_t i = 0; i < subgraphs_.all.size(); ++i) {
      const Subgraph& subgraph = subgraphs_.all[i];
      const bool is_branch = subgraph.first == index && subgraph.enter != index;
      if (is_branch) graphs.items.push_back(Json::Integer(static_cast<int64_t>(i) + 1));
    }
    Json value = Json::Object();
    value.members.emplace_back("graphs", std::move(graphs));
    AddNode(id, "call_function", "if")->set_value_json(record::ToJson(value));
    Read(line.predicate, id, 0);
    conditionals_.push_back({.id = id, .line = line, .made_by = made_by_, .written_by = written_by_});
  }

  void AddElse() {
    conditionals_.back().has_else = true;
    conditionals_.back().written_by_then = written_by_;
    written_by_ = conditionals_.back().written_by;
  }

  // Adds the node that is the last writer of the buffers that a branch wrote.
  void AddEndIf(const std::string& id) {
    Conditional ended = std::move(conditionals_.back());
    conditionals_.pop_back();
    AddNode(id, "call_function", "end_if");
    AddEdge(ended.id, id, "data", 0, ended.line.predicate);
    if (!ended.has_else) {
      ended.written_by_then = written_by_;
      written_by_ = ended.written_by;
    }
    size_t position = 0;
    for (size_t i = 0; i < written_by_.size(); ++i) {
      const std::string& before = ended.written_by[i];
      if (ended.made_by[i].empty() || (ended.written_by_then[i] == before && written_by_[i] == before)) continue;
      ++position;
      for (const std::string& writer : {ended.written_by_then[i], written_by_[i]}) {
        if (!writer.empty()) AddEdge(writer, id, "data", position, static_cast<int>(i));
      }
      written_by_[i] = id;
    }
  }

  std::string LineId(size_t index, const std::string& name) const { return Cat("g", graph_id_, ":", index, ":", name); }

  const std::string& MadeBy(int buffer) const { return made_by_[static_cast<size_t>(buffer)]; }
  // Returns the node of the last call that wrote the memory of a buffer; empty if there was none.
  std::string& WrittenBy(int buffer) {
    return written_by_[static_cast<size_t>(places_[static_cast<size_t>(buffer)].root)];
  }

  void Read(int buffer, const std::string& reader, size_t position) {
    const auto seen = seen_write_.find(buffer);
    const bool is_view = seen != seen_write_.end();
    const std::string& writer = WrittenBy(buffer);
    if (is_view || writer.empty()) AddEdge(MadeBy(buffer), reader, "data", position, buffer);
    // A call wrote the memory after the view was made.
    if (!writer.empty() && (!is_view || seen->second != writer)) AddEdge(writer, reader, "data", position, buffer);
  }

  void Take(int buffer, const std::string& taker, size_t position) {
    AddEdge(MadeBy(buffer), taker, "memory", position, buffer);
  }

  // Adds an edge. There is one edge per pair of nodes, for any number of arguments. Its kind is "data" if any of them
  // is read.
  void AddEdge(const std::string& source, const std::string& target, std::string_view kind, size_t position,
               int buffer) {
    const auto [known, is_new] = edges_.try_emplace({source, target}, graph_.edges_size());
    if (is_new) {
      v1::IrEdge* added = graph_.add_edges();
      added->set_source(source);
      added->set_target(std::string(target));
      added->set_edge_kind(std::string(kind));
      added->set_dtype(std::string(TorchName(plan_.buffer(buffer).dtype)));
      added->set_shape_json(record::ToJson(Texts(plan_.buffer(buffer).sizes)));
      positions_.emplace_back();
    }
    if (kind == "data") graph_.mutable_edges(known->second)->set_edge_kind(std::string(kind));
    positions_[static_cast<size_t>(known->second)].push_back(static_cast<int64_t>(position));
  }

  // A conditional that is open.
  struct Conditional {
    std::string id;  // of the node "if"
    If line;
    std::vector<std::string> made_by;     // before it
    std::vector<std::string> written_by;  // before it
    bool has_else = false;
    std::vector<std::string> written_by_then = {};  // after the first branch
  };

  const Plan& plan_;
  const std::string& device_;
  const std::vector<Place> places_;
  const Subgraphs subgraphs_;
  int graph_id_ = 0;                       // of the line: 0, or 1 + the index of its subgraph
  std::vector<std::string> made_by_;       // by buffer: the node that made it
  std::vector<std::string> written_by_;    // by buffer that owns memory: the node of the last call that wrote it
  std::map<int, std::string> seen_write_;  // by view: the last writer when it was made
  std::vector<Conditional> conditionals_;
  std::map<std::string, std::string> packs_;
  std::map<std::pair<std::string, std::string>, int> edges_;  // by source and target: its index
  std::vector<std::vector<int64_t>> positions_;               // by edge
  v1::IrGraph graph_;
};

}  // namespace

v1::IrGraph WrapperGraph(const Plan& plan, const std::string& device) { return GraphWriter(plan, device).Write(); }

}  // namespace telemetry::worker::wrapper
