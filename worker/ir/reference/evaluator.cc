#include "worker/ir/reference/evaluator.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"

namespace telemetry::worker::ir::reference {
namespace {

using device::DType;
using record::Cat;

constexpr int64_t kMostWhileIterations = 1 << 20;

absl::Status WithPlace(const absl::Status& status, const Graph& graph, const Node& node) {
  return {status.code(), Cat("graph ", graph.id, ", ", node.name, ": ", status.message())};
}

// Returns the value of a node: the tile, with FillValue() in the elements beyond an end, which no other node may use.
TilePtr Finished(const AxisRanges& ranges, Tile tile) {
  SetBeyondEnds(ranges, FillValue(tile.dtype), &tile);
  return std::make_shared<const Tile>(std::move(tile));
}

// Returns the union of the axes that indices walk and of those that gathered positions have.
std::vector<int> IndexedAxes(const std::vector<TileIndex>& indices) {
  std::vector<int> axes;
  const auto add = [&axes](int axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  };
  for (const TileIndex& index : indices) {
    if (index.kind == Index::Kind::kAxis) add(index.axis);
    if (index.kind != Index::Kind::kGather) continue;
    for (const int axis : index.gather->axes) add(axis);
  }
  return axes;
}

// Returns the block that covers all of an axis. It is a power of two, so that there are usually elements beyond the
// end.
int64_t WholeBlock(int64_t extent) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(extent, 1))));
}

// Returns the block of a grid or loop axis, or the chunk of a rolled reduction axis.
int64_t BlockSize(const Axis& axis, int64_t extent, const Options& options) {
  if (axis.fixed_block > 0) return axis.fixed_block;
  const auto id = static_cast<size_t>(axis.id);
  const int64_t chosen = id < options.block_sizes.size() ? options.block_sizes[id] : 0;
  return std::min(chosen > 0 ? chosen : options.default_block, WholeBlock(extent));
}

// Converts the numbers among the operands of a pointwise node to the integer dtype of its values, if they have one.
void WrapNumbers(const Node& node, std::vector<TilePtr>* operands) {
  const size_t first = node.op == Op::kWhere ? 1 : 0;
  DType dtype = DType::kF32;
  for (size_t i = first; i < node.args.size(); ++i) {
    if (std::holds_alternative<NodeRef>(node.args[i].value)) dtype = (*operands)[i]->dtype;
  }
  if (!IsInteger(dtype)) return;
  for (size_t i = first; i < node.args.size(); ++i) {
    const auto* number = std::get_if<int64_t>(&node.args[i].value);
    if (number == nullptr) continue;
    (*operands)[i] = std::make_shared<const Tile>(Tile::Scalar(dtype, Wrap(dtype, static_cast<uint64_t>(*number))));
  }
}

double ElementCount(const Tile& tile) { return static_cast<double>(tile.data.size()); }

}  // namespace

int64_t ActualExtent(const Axis& axis, const Tensors& tensors) {
  const Size& size = axis.extent;
  if (size.tensor < 0 || size.is_static) return size.value;
  return tensors[static_cast<size_t>(size.tensor)].sizes[static_cast<size_t>(size.dimension)];
}

Evaluator::Evaluator(const DeviceIr& ir, const Options& options, Tensors* tensors, std::vector<StoredElement>* stored)
    : ir_(ir), options_(options), tensors_(*tensors), stored_(stored) {
  for (const Axis& axis : ir.axes) {
    const int64_t extent = ActualExtent(axis, *tensors);
    const int64_t block = axis.kind == AxisKind::kReduction ? WholeBlock(extent) : BlockSize(axis, extent, options);
    ranges_.push_back({.begin = 0, .block = block, .extent = extent});
  }
}

absl::StatusOr<Evaluator::Values> Evaluator::RunGraph(int graph, const Values& arguments) {
  const Graph& running = ir_.graphs[static_cast<size_t>(graph)];
  Frame frame = {.graph = running, .arguments = arguments};
  frame.values.resize(running.nodes.size());
  for (size_t i = 0; i < running.nodes.size(); ++i) {
    const Node& node = running.nodes[i];
    if (node.op == Op::kOutput) return FindOperands(node.args[0], frame);
    absl::StatusOr<Values> values = RunNode(node, &frame);
    if (!values.ok()) return WithPlace(values.status(), running, node);
    if (!values->empty() && !IsControlFlow(node.op)) work_ += Work(node, *values->front(), frame);
    frame.values[i] = *std::move(values);
  }
  return Values();
}

absl::StatusOr<Evaluator::Values> Evaluator::RunNode(const Node& node, Frame* frame) {
  if (IsControlFlow(node.op)) return RunControlFlow(node, *frame);
  switch (node.op) {
    case Op::kPlaceholder:
      return Values{frame->arguments[frame->placeholders++]};
    case Op::kOutput:
    case Op::kHostTensor:
    case Op::kBlockSize:
      return Values();
    case Op::kScalar: {
      ASSIGN_OR_RETURN(const double value, ScalarArgument(node));
      return Values{std::make_shared<const Tile>(Tile::Scalar(*node.dtype, RoundTo(*node.dtype, value)))};
    }
    case Op::kLoad:
    case Op::kStore:
      return RunMemory(node, frame);
    case Op::kFull:
    case Op::kIndex:
    case Op::kTileBegin:
    case Op::kTileEnd:
      return Values{Generate(node)};
    case Op::kGetItem: {
      const auto& source = std::get<NodeRef>(node.args[0].value);
      return Values{frame->values[static_cast<size_t>(source.index)][static_cast<size_t>(node.item)]};
    }
    default:
      return Values{Compute(node, *frame)};
  }
}

double Evaluator::Work(const Node& node, const Tile& value, const Frame& frame) {
  if (node.op != Op::kDot) return ElementCount(value);
  const Tile& rows = *FindOperand(node.args[0], frame);
  return ElementCount(value) * static_cast<double>(rows.sizes[static_cast<size_t>(GetShape(rows).FindAxis(node.axis))]);
}

absl::StatusOr<double> Evaluator::ScalarArgument(const Node& node) const {
  const std::string& name = ir_.scalars[static_cast<size_t>(node.scalar)].name;
  const auto found = options_.scalars.find(name);
  if (found == options_.scalars.end()) return absl::InvalidArgumentError(Cat("no value for the scalar ", name));
  return found->second;
}

absl::StatusOr<Evaluator::Values> Evaluator::RunMemory(const Node& node, Frame* frame) {
  if (node.op == Op::kStore) {
    RETURN_IF_ERROR(Store(node, *frame));
    return Values();
  }
  const HostArray& array = tensors_[static_cast<size_t>(frame->graph.at(std::get<NodeRef>(node.args[0].value)).tensor)];
  ASSIGN_OR_RETURN(Tile tile, LoadTile(array, EvaluateIndices(node, *frame), ShapeIn(ranges_, node.shape), ranges_));
  return Values{std::make_shared<const Tile>(std::move(tile))};
}

absl::Status Evaluator::Store(const Node& node, const Frame& frame) {
  const int tensor = frame.graph.at(std::get<NodeRef>(node.args[0].value)).tensor;
  HostArray& array = tensors_[static_cast<size_t>(tensor)];
  const std::vector<TileIndex> indices = EvaluateIndices(node, frame);
  const TileShape shape = ShapeIn(ranges_, IndexedAxes(indices));
  const Tile& value = *FindOperand(node.args[2], frame);
  if (stored_ != nullptr) {
    return ForEachStored(value, indices, shape, ranges_, array, [&](int64_t offset, double element) {
      const double stored = IsInteger(array.dtype) ? ConvertTo(array.dtype, value.dtype, element) : element;
      stored_->push_back({.tensor = tensor, .offset = offset, .value = stored});
    });
  }
  return ForEachStored(value, indices, shape, ranges_, array, [&array, &value](int64_t offset, double element) {
    array.data[static_cast<size_t>(offset)] = ConvertTo(array.dtype, value.dtype, element);
  });
}

std::vector<TileIndex> Evaluator::EvaluateIndices(const Node& node, const Frame& frame) const {
  std::vector<TileIndex> result;
  for (const Index& index : ReadIndices(frame.graph, node)) {
    TileIndex evaluated = {.kind = index.kind, .axis = index.axis, .literal = index.literal};
    if (index.kind == Index::Kind::kGather) evaluated.gather = FindOperand(Arg{index.value}, frame);
    result.push_back(std::move(evaluated));
  }
  return result;
}

TilePtr Evaluator::Generate(const Node& node) const {
  if (node.op == Op::kTileBegin || node.op == Op::kTileEnd) {
    const AxisRange& range = ranges_[static_cast<size_t>(node.axis)];
    const int64_t position = node.op == Op::kTileBegin ? range.begin : range.end();
    return std::make_shared<const Tile>(Tile::Scalar(DType::kI32, static_cast<double>(position)));
  }
  const TileShape shape = ShapeIn(ranges_, node.shape);
  Tile tile = {.dtype = *node.dtype, .axes = shape.axes, .sizes = shape.sizes};
  tile.data.assign(static_cast<size_t>(shape.element_count()), RoundTo(*node.dtype, node.value));
  if (node.op == Op::kIndex) {
    const int64_t begin = ranges_[static_cast<size_t>(node.axis)].begin;
    for (size_t i = 0; i < tile.data.size(); ++i) tile.data[i] = static_cast<double>(begin + static_cast<int64_t>(i));
  }
  return Finished(ranges_, std::move(tile));
}

TilePtr Evaluator::Compute(const Node& node, const Frame& frame) const {
  const TileShape shape = ShapeIn(ranges_, node.shape);
  const TilePtr first = FindOperand(node.args[0], frame);
  if (node.op == Op::kMaskTo) {
    Tile masked = *first;
    SetBeyondEnds(ranges_, RoundTo(masked.dtype, node.value), &masked);
    return std::make_shared<const Tile>(std::move(masked));
  }
  if (IsReduction(node.op)) {
    const int64_t begin = ranges_[static_cast<size_t>(node.axis)].begin;
    return Finished(ranges_, Broadcast(Reduce(node.op, *node.dtype, *first, node.axis, begin), shape));
  }
  if (node.op == Op::kDot) {
    Tile product = Dot(*first, *FindOperand(node.args[1], frame), node.axis, shape);
    if (node.args.size() < 3 || std::holds_alternative<std::monostate>(node.args[2].value)) {
      return Finished(ranges_, std::move(product));
    }
    const Values terms = {std::make_shared<const Tile>(std::move(product)), FindOperand(node.args[2], frame)};
    return Finished(ranges_, Pointwise(Op::kAdd, DType::kF32, shape, terms));
  }
  Values operands;
  for (const Arg& arg : node.args) operands.push_back(FindOperand(arg, frame));
  WrapNumbers(node, &operands);
  return Finished(ranges_, Pointwise(node.op, *node.dtype, shape, operands));
}

absl::StatusOr<Evaluator::Values> Evaluator::RunControlFlow(const Node& node, const Frame& frame) {
  switch (node.op) {
    case Op::kForLoop:
    case Op::kReductionLoop:
      return RunLoop(node, frame);
    case Op::kWhile:
      return RunWhile(node, frame);
    case Op::kIf: {
      const bool condition = FindOperand(node.args[0], frame)->data[0] != 0;
      return RunGraph(node.graphs[condition ? 0 : 1], FindOperands(node.args[1], frame));
    }
    default:  // kCall
      return RunGraph(node.graphs[0], FindOperands(node.args[0], frame));
  }
}

absl::StatusOr<Evaluator::Values> Evaluator::RunLoop(const Node& node, const Frame& frame) {
  AxisRange& range = ranges_[static_cast<size_t>(node.axis)];
  const AxisRange outside = range;
  range.block = BlockSize(ir_.axes[static_cast<size_t>(node.axis)], range.extent, options_);
  int64_t end = range.extent;
  if (node.args.size() > 2 && !std::holds_alternative<std::monostate>(node.args[2].value)) {
    end = std::min(end, static_cast<int64_t>(FindOperand(node.args[2], frame)->data[0]));
  }
  const Values captured = FindOperands(node.args[0], frame);
  absl::StatusOr<Values> carried = FindOperands(node.args[1], frame);
  for (range.begin = 0; range.begin < end && carried.ok(); range.begin += range.block) {
    Values arguments = captured;
    arguments.insert(arguments.end(), carried->begin(), carried->end());
    carried = RunGraph(node.graphs[0], arguments);
  }
  range = outside;
  return carried;
}

absl::StatusOr<Evaluator::Values> Evaluator::RunWhile(const Node& node, const Frame& frame) {
  const Values captured = FindOperands(node.args[0], frame);
  Values carried = FindOperands(node.args[1], frame);
  for (int64_t iteration = 0; iteration < kMostWhileIterations; ++iteration) {
    Values arguments = captured;
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    ASSIGN_OR_RETURN(const Values condition, RunGraph(node.graphs[0], arguments));
    if (condition.front()->data[0] == 0) return carried;
    ASSIGN_OR_RETURN(Values next, RunGraph(node.graphs[1], arguments));
    carried = std::move(next);
  }
  return absl::FailedPreconditionError(Cat("still running after ", kMostWhileIterations, " iterations"));
}

TilePtr Evaluator::FindOperand(const Arg& arg, const Frame& frame) {
  if (const auto* ref = std::get_if<NodeRef>(&arg.value)) {
    return frame.values[static_cast<size_t>(ref->index)].front();
  }
  Tile number = Tile::Scalar(DType::kF32, 0);
  if (const auto* boolean = std::get_if<bool>(&arg.value)) number = Tile::Scalar(DType::kBool, *boolean ? 1 : 0);
  if (const auto* integer = std::get_if<int64_t>(&arg.value)) {
    number = Tile::Scalar(DType::kI32, static_cast<double>(*integer));
  }
  if (const auto* real = std::get_if<double>(&arg.value)) number = Tile::Scalar(DType::kF32, *real);
  return std::make_shared<const Tile>(std::move(number));
}

Evaluator::Values Evaluator::FindOperands(const Arg& list, const Frame& frame) {
  Values values;
  for (const Arg& item : std::get<Arg::List>(list.value)) values.push_back(FindOperand(item, frame));
  return values;
}

}  // namespace telemetry::worker::ir::reference
