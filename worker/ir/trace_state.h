#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_builder.h"
#include "worker/ir/trace.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {

// The dtype and the axes of a value.
struct ValueType {
  device::DType dtype = device::DType::kF32;
  std::vector<int> shape;
};

// A graph that is being traced: the root, or a child graph of a control-flow node.
struct Region {
  Region(const DeviceIr* ir, Graph graph, std::vector<NodeRef>* captures)
      : builder(ir, std::move(graph)), captures(captures) {}

  int graph_id() const { return builder.graph().id; }
  int axis() const { return builder.graph().axes.empty() ? -1 : builder.graph().axes[0]; }

  GraphBuilder builder;
  // The values that the regions of one control-flow node capture from the enclosing graph, in order of first use: nodes
  // of the enclosing graph.
  std::vector<NodeRef>* captures;
  std::map<int, NodeRef> captured;  // a node of the enclosing graph -> its placeholder here
  std::vector<NodeRef> parameters;  // placeholders of values that are passed explicitly
  std::vector<NodeRef> results;
};

// The device IR that a Trace builds, and the current position in it. Regions form a stack: a value is reached from the
// innermost region through placeholders, one in each region between.
class Trace::State {
 public:
  State(Trace* trace, TraceInputs inputs);

  DeviceIr ir;
  TraceInputs inputs;
  absl::Status error;
  bool finished = false;

  // Sets the source location of the nodes that follow.
  void At(const Location& at);
  const SourceLocation& location() const { return location_; }
  // Records the first error. Kernel and location are added to the message.
  void Error(std::string_view message);

  Region& current() { return *open_.back(); }
  bool in_root() const { return open_.size() == 1; }
  // Adds an empty graph to the IR and returns the region that traces it.
  std::unique_ptr<Region> NewRegion(GraphKind kind, std::vector<int> axes, std::vector<NodeRef>* captures,
                                    const std::string& name = "");
  void Enter(Region* region) { open_.push_back(region); }
  void Leave() { open_.pop_back(); }
  // Completes the graph of the region. Placeholders come first, those of captured values before the others.
  void Close(Region* region);
  void CloseRoot();

  // Appends a node to the current region.
  Value Add(Node node);
  // Returns the node of a value in the current region. Returns nullopt and records an error if the value cannot be used
  // here.
  std::optional<NodeRef> Reach(const Value& value);
  Value MakeValue(NodeRef ref) { return Value(trace_, current().graph_id(), ref.index); }
  // Returns the node of a value, or nullptr if the value is invalid or its region is closed.
  const Node* Find(const Value& value) const;
  ValueType GetType(const Value& value) const;
  // Returns a copy of the shape that lives as long as this object. References into nodes become invalid when nodes
  // move.
  const std::vector<int>& Keep(std::vector<int> shape) { return *shapes_.insert(std::move(shape)).first; }
  Value AddParameter(const ValueType& type);
  Carried AddParameters(const std::vector<ValueType>& types);
  static Arg Refs(const std::vector<NodeRef>& nodes);

  // Returns true if the axis or tensor can be used, or the value has this type; else records an error.
  bool IsUsable(AxisRef axis);
  bool IsUsable(TensorRef tensor);
  bool Expect(const Value& value, const ValueType& type, std::string_view what);

  AxisRef AddAxis(AxisKind kind, const Size& extent, int64_t fixed_block);
  std::string AxisNames(const std::vector<int>& shape) const;

  Value Convert(const Value& value, device::DType dtype);
  // Returns the value with the axes of `shape`. Along the added axes it is constant.
  Value Broadcast(const Value& value, const std::vector<int>& shape);
  Value Mask(const Value& value, double neutral);
  Value Pointwise(Op op, const std::vector<Operand>& operands);
  Value Reduce(Op op, const Value& value, AxisRef axis);
  Value Dot(Value a, Value b, AxisRef axis, const Value* accumulator);
  // Returns the indices as an argument, and adds their axes to `shape`. Returns nullopt after an error.
  std::optional<Arg> IndexList(TensorRef tensor, const std::vector<IndexArg>& indices, std::vector<int>* shape);

  // Converts and broadcasts the results of a body to `types`, and stores them in the region. Errors name `what`.
  bool Adapt(const std::vector<ValueType>& types, const Carried& values, std::string_view what, Region* region);
  Carried AddResults(const std::vector<ValueType>& types, const Value& call);
  std::optional<Arg::List> ReachAll(const Carried& values);
  std::vector<ValueType> GetTypes(const Carried& values) const;

 private:
  const Region* FindRegion(int graph) const;
  NodeRef ReachFrom(size_t depth, int graph, NodeRef node);
  NodeRef Capture(Region* region, const Node& source, NodeRef in_parent);
  std::optional<Arg> MakeIndex(const IndexArg& index, const Size& size, std::vector<int>* shape);
  std::optional<OperandType> TypeOfOperand(const Operand& operand) const;
  bool CheckDot(const Value& a, const Value& b, AxisRef axis);

  Trace* trace_;
  SourceLocation location_;
  std::unique_ptr<Region> root_;
  std::vector<Region*> open_;
  std::set<std::vector<int>> shapes_;
};

}  // namespace telemetry::worker::ir
