#include "worker/ir/graph_record/ir_node_features.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "proto/record/strings.h"
#include "proto/record/utf8.h"

namespace telemetry::worker::ir::graph_record {
namespace {

using record::Cat;
using record::Json;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A dimension: its text, and its value if it is known.
struct Dimension {
  std::string text;
  std::optional<int64_t> value;
};
using Dimensions = std::vector<Dimension>;

Json Texts(const Dimensions& dimensions) {
  Json list = Json::Array();
  for (const Dimension& dimension : dimensions) list.items.push_back(RecordString(dimension.text));
  return list;
}

Json Values(const Dimensions& dimensions) {
  Json list = Json::Array();
  for (const Dimension& dimension : dimensions) {
    list.items.push_back(dimension.value.has_value() ? Json::Integer(*dimension.value) : Json::Null());
  }
  return list;
}

Dimensions ToDimensions(const std::vector<Size>& sizes) {
  Dimensions dimensions;
  for (const Size& size : sizes) dimensions.push_back({size.text, size.value});
  return dimensions;
}

constexpr int64_t kLargestHint = int64_t{1} << 62;

// Returns an axis as a dimension of a tile.
Dimension BlockDimension(const DeviceIr& ir, int axis, const IrGraphOptions& options) {
  if (axis < 0 || axis >= static_cast<int>(ir.axes.size())) return {Cat("u", axis), std::nullopt};
  const Axis& walked = ir.axes[static_cast<size_t>(axis)];
  if (walked.fixed_block > 0) return {Cat(walked.fixed_block), walked.fixed_block};
  if (walked.kind != AxisKind::kReduction) return {walked.symbol(), options.block_size_hint};
  const int64_t extent = std::clamp<int64_t>(walked.extent.value, 1, kLargestHint);
  return {walked.symbol(), static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)))};
}

Dimensions TileDimensions(const DeviceIr& ir, const std::vector<int>& axes, const IrGraphOptions& options) {
  Dimensions dimensions;
  for (const int axis : axes) dimensions.push_back(BlockDimension(ir, axis, options));
  return dimensions;
}

bool IsNumber(const Dimension& dimension) {
  return dimension.value.has_value() && dimension.text == Cat(*dimension.value);
}

// Returns the strides of a tile without gaps, as torch prints them: products of "Max(1, u1)", with the numbers in
// front.
Dimensions TileStrides(const Dimensions& shape) {
  Dimensions strides(shape.size());
  int64_t number = 1;
  std::string symbols;
  std::optional<int64_t> value = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    const bool shows_number = number != 1 || symbols.empty();
    strides[d].text = Cat(shows_number ? Cat(number) : "", shows_number && !symbols.empty() ? "*" : "", symbols);
    strides[d].value = value;
    if (IsNumber(shape[d])) {
      number *= std::max<int64_t>(1, *shape[d].value);
    } else {
      symbols = Cat("Max(1, ", shape[d].text, ")", symbols.empty() ? "" : "*", symbols);
    }
    if (value.has_value())
      value = shape[d].value.has_value() ? *value * std::max<int64_t>(1, *shape[d].value) : shape[d].value;
  }
  return strides;
}

void SetTensor(std::string_view dtype, const Dimensions& shape, const Dimensions& strides, const std::string& device,
               ValueFeatures* features) {
  features->dtype = RecordString(dtype);
  features->shape = Texts(shape);
  features->concrete_shape = Values(shape);
  features->stride = Texts(strides);
  features->concrete_stride = Values(strides);
  features->device = RecordString(device);
}

bool IsKnown(Op op) { return op >= Op::kPlaceholder && op <= kLastOp; }

// Returns true for a number that the host knows: a block size or a scalar argument.
bool IsSymbol(const Node& node) { return node.op == Op::kBlockSize || node.op == Op::kScalar; }

void SetSymbol(const DeviceIr& ir, const Node& node, const IrGraphOptions& options, ValueFeatures* features) {
  if (node.op == Op::kBlockSize) {
    features->dtype = RecordString("SymInt");
    features->value = RecordString(BlockDimension(ir, node.axis, options).text);
    return;
  }
  features->dtype = RecordString(node.dtype.has_value() && !IsFloat(*node.dtype) ? "SymInt" : "SymFloat");
  const bool exists = node.scalar >= 0 && node.scalar < static_cast<int>(ir.scalars.size());
  if (exists) features->value = RecordString(ir.scalars[static_cast<size_t>(node.scalar)].name);
}

Json LoweringClass(Lowering lowering) {
  switch (lowering) {
    case Lowering::kNone:
      return Json::Null();
    case Lowering::kPointwise:
      return RecordString("PointwiseLowering");
    case Lowering::kReduction:
      return RecordString("ReductionLowering");
    case Lowering::kApi:
    case Lowering::kDot:
    case Lowering::kControlFlow:
      break;
  }
  return RecordString("APIFuncLowering");
}

Json ReductionType(Op op) {
  switch (op) {
    case Op::kSum:
      return RecordString("sum");
    case Op::kAMax:
      return RecordString("max");
    case Op::kAMin:
      return RecordString("min");
    case Op::kProd:
      return RecordString("prod");
    case Op::kArgMax:
      return RecordString("argmax");
    default:
      return Json::Null();
  }
}

// Sets the operands that are tiles, once per occurrence.
void SetInputs(const DeviceIr& ir, const Graph& graph, const Node& node, const IrGraphOptions& options,
               LoweringFeatures* features) {
  features->input_dtypes = Json::Array();
  features->input_shapes = Json::Array();
  for (const NodeRef ref : CollectUses(node)) {
    const Node* input = FindNode(graph, ref);
    if (input == nullptr || IsSymbol(*input)) continue;
    ValueFeatures value = ExtractValueFeatures(ir, *input, options);
    features->input_dtypes.items.push_back(std::move(value.dtype));
    features->input_shapes.items.push_back(std::move(value.shape));
  }
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t wrong = record::FindInvalidUtf8(text);
    valid.append(text.substr(0, wrong));
    if (wrong == std::string_view::npos) break;
    valid.append(kReplacement);
    text.remove_prefix(wrong + 1);
  }
  return valid;
}

std::string RecordText(std::string_view text) {
  std::string valid = ValidUtf8(text);
  if (valid.size() <= kMaxTextBytes) return valid;
  size_t cut = kMaxTextBytes - (sizeof(kTruncated) - 1);
  while ((static_cast<unsigned char>(valid[cut]) & 0xC0) == 0x80) --cut;
  return valid.substr(0, cut) + kTruncated;
}

Json RecordString(std::string_view text) { return Json::String(RecordText(text)); }

std::string RecordId(const Graph& graph, const Node& node) { return Cat("g", graph.id, ":", ValidUtf8(node.name)); }

std::string TargetText(const Node& node) {
  if (node.op == Op::kPlaceholder) return RecordText(node.name);
  return IsKnown(node.op) ? std::string(TargetName(node.op)) : Cat("op ", static_cast<int>(node.op));
}

std::string RegionKind(GraphKind kind, bool* known) {
  *known = true;
  switch (kind) {
    case GraphKind::kRoot:
    case GraphKind::kForLoop:
    case GraphKind::kReductionLoop:
    case GraphKind::kIf:
    case GraphKind::kElse:
    case GraphKind::kWhileCondition:
    case GraphKind::kWhileLoop:
    case GraphKind::kHelperFunction:
      return std::string(GraphKindName(kind));
  }
  *known = false;
  return Cat("kind ", static_cast<int>(kind));
}

const Node* FindNode(const Graph& graph, NodeRef ref) {
  const bool exists = ref.index >= 0 && ref.index < static_cast<int>(graph.nodes.size());
  return exists ? &graph.at(ref) : nullptr;
}

const Node* FindNode(const Graph& graph, const Arg& arg) {
  const auto* ref = std::get_if<NodeRef>(&arg.value);
  return ref == nullptr ? nullptr : FindNode(graph, *ref);
}

ValueFeatures ExtractValueFeatures(const DeviceIr& ir, const Node& node, const IrGraphOptions& options) {
  ValueFeatures features;
  if (IsSymbol(node)) {
    SetSymbol(ir, node, options, &features);
  } else if (node.op == Op::kHostTensor) {
    if (node.tensor < 0 || node.tensor >= static_cast<int>(ir.tensors.size())) return features;
    const HostTensor& tensor = ir.tensors[static_cast<size_t>(node.tensor)];
    SetTensor(TorchName(tensor.dtype), ToDimensions(tensor.sizes), ToDimensions(tensor.strides), options.device,
              &features);
  } else if (node.dtype.has_value()) {
    const Dimensions shape = TileDimensions(ir, node.shape, options);
    SetTensor(TorchName(*node.dtype), shape, TileStrides(shape), options.device, &features);
  }
  return features;
}

LoweringFeatures ExtractLoweringFeatures(const DeviceIr& ir, const Graph& graph, const Node& node,
                                         const IrGraphOptions& options) {
  LoweringFeatures features;
  const Lowering lowering = IsKnown(node.op) ? GetLowering(node.op) : Lowering::kNone;
  features.lowering_class = LoweringClass(lowering);
  if (lowering != Lowering::kPointwise && lowering != Lowering::kReduction) return features;
  SetInputs(ir, graph, node, options, &features);
  if (lowering == Lowering::kPointwise) {
    features.pointwise_ranges = Texts(TileDimensions(ir, node.shape, options));
  } else {
    features.reduction_type = ReductionType(node.op);
    features.reduction_ranges = Texts({BlockDimension(ir, node.axis, options)});
  }
  return features;
}

}  // namespace telemetry::worker::ir::graph_record
