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

// What a value is: which dtype, along which axes.
struct ValueType {
  DType dtype = DType::kF32;
  std::vector<int> shape;
};

// A graph that is being traced: the root's, or the child of a control flow node.
struct Region {
  Region(const DeviceIr* ir, Graph graph, std::vector<NodeRef>* captures)
      : builder(ir, std::move(graph)), captures(captures) {}

  int graph_id() const { return builder.graph().id; }
  int axis() const { return builder.graph().axes.empty() ? -1 : builder.graph().axes[0]; }

  GraphBuilder builder;
  // What the regions of one control flow node take from the graph around it, in order of first use: nodes of that
  // graph.
  std::vector<NodeRef>* captures;
  std::map<int, NodeRef> captured;  // a node of the graph around this one -> its placeholder here
  std::vector<NodeRef> parameters;  // placeholders of what is passed explicitly
  std::vector<NodeRef> results;
};

// The device IR that a Trace makes, and where it stands in it. Regions are a stack: a value is reached from the
// innermost one through placeholders, one in each region between.
class Trace::State {
 public:
  State(Trace* trace, TraceInputs inputs);

  DeviceIr ir;
  TraceInputs inputs;
  absl::Status error;
  bool finished = false;

  // Where the function of the kernel is.
  void At(const Location& at);
  const SourceLocation& location() const { return location_; }
  // Keeps the first error; the message is given the kernel and the location.
  void Error(std::string_view message);

  Region& current() { return *open_.back(); }
  bool in_root() const { return open_.size() == 1; }
  // An id for a graph of the next region.
  std::unique_ptr<Region> NewRegion(GraphKind kind, std::vector<int> axes, std::vector<NodeRef>* captures,
                                    const std::string& name = "");
  void Enter(Region* region) { open_.push_back(region); }
  void Leave() { open_.pop_back(); }
  // The region's graph is complete: placeholders first, captured ones before the others.
  void Close(Region* region);
  void CloseRoot();

  // Nodes of the current region.
  Value Add(Node node);
  // The node of a value, in the current region. None, and an error, for one that cannot be used here.
  std::optional<NodeRef> Reach(const Value& value);
  Value ValueOf(NodeRef ref) { return Value(trace_, current().graph_id(), ref.index); }
  // nullptr: not valid, or its region is closed.
  const Node* Find(const Value& value) const;
  ValueType TypeOf(const Value& value) const;
  // The same shape, for as long as this lives: nodes move.
  const std::vector<int>& Keep(std::vector<int> shape) { return *shapes_.insert(std::move(shape)).first; }
  Value AddParameter(const ValueType& type);
  Carried AddParameters(const std::vector<ValueType>& types);
  static Arg Refs(const std::vector<NodeRef>& nodes);

  // Checks with errors.
  bool IsUsable(AxisRef axis);
  bool IsUsable(TensorRef tensor);
  bool Expect(const Value& value, const ValueType& type, std::string_view what);

  AxisRef AddAxis(AxisKind kind, const Size& extent, int64_t fixed_block);
  std::string AxisNames(const std::vector<int>& shape) const;

  Value Convert(const Value& value, DType dtype);
  // The value with more axes: the same along those.
  Value Broadcast(const Value& value, const std::vector<int>& shape);
  Value Mask(const Value& value, double neutral);
  Value Pointwise(Op op, const std::vector<Operand>& operands);
  Value Reduce(Op op, const Value& value, AxisRef axis);
  Value Dot(Value a, Value b, AxisRef axis, const Value* accumulator);
  // The indices as an argument, and the axes that they make.
  std::optional<Arg> IndexList(TensorRef tensor, const std::vector<IndexArg>& indices, std::vector<int>* shape);

  // Converts and broadcasts what a body gave to what it is to be; the errors say that it is `what`'s.
  bool Adapt(const std::vector<ValueType>& types, const Carried& values, std::string_view what, Region* region);
  Carried AddResults(const std::vector<ValueType>& types, const Value& call);
  std::optional<Arg::List> ReachAll(const Carried& values);
  std::vector<ValueType> TypesOf(const Carried& values) const;

 private:
  const Region* RegionOf(int graph) const;
  NodeRef ReachFrom(size_t depth, int graph, NodeRef node);
  NodeRef Capture(Region* region, const Node& source, NodeRef in_parent);
  std::optional<Arg> IndexOf(const IndexArg& index, const Size& size, std::vector<int>* shape);
  std::optional<OperandType> TypeOfOperand(const Operand& operand) const;
  bool CheckDot(const Value& a, const Value& b, AxisRef axis);

  Trace* trace_;
  SourceLocation location_;
  std::unique_ptr<Region> root_;
  std::vector<Region*> open_;
  std::set<std::vector<int>> shapes_;
};

}  // namespace telemetry::worker::ir
