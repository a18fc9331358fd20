#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/half.h"
#include "worker/ir/trace_state.h"
#include "worker/ir/type_rules.h"

// The part of Trace::State that adds computing nodes to the current region.

namespace telemetry::worker::ir {

using device::DType;
using record::Cat;

namespace {

// Returns an integer that is combined with values of a dtype: for narrow integer dtypes, the value with its low bits.
int64_t WrappedNumber(double number, DType dtype) {
  const auto integer = static_cast<int64_t>(number);
  const bool wraps = IsInteger(dtype) && dtype != DType::kI32 && SizeOf(dtype) < sizeof(int64_t);
  return wraps ? static_cast<int64_t>(Wrap(dtype, static_cast<uint64_t>(integer))) : integer;
}

}  // namespace

Value Trace::State::Convert(const Value& value, DType dtype) {
  const std::optional<NodeRef> input = Reach(value);
  if (!input.has_value()) return Value();
  const ValueType type = GetType(value);
  if (type.dtype == dtype) return MakeValue(*input);
  return Add({.op = Op::kConvert, .args = {RefArg(*input), Arg{dtype}}, .dtype = dtype, .shape = type.shape});
}

Value Trace::State::Broadcast(const Value& value, const std::vector<int>& shape) {
  const ValueType type = GetType(value);
  if (SameAxes(type.shape, shape)) return value;
  // Adding -0.0 does not change any floating-point number, including 0.0.
  const double nothing = IsFloat(type.dtype) ? -0.0 : 0.0;
  const Value full = Add({.op = Op::kFull, .dtype = type.dtype, .shape = shape, .value = nothing});
  return Pointwise(type.dtype == DType::kBool ? Op::kOr : Op::kAdd, {full, value});
}

Value Trace::State::Mask(const Value& value, double neutral) {
  const std::optional<NodeRef> input = Reach(value);
  if (!input.has_value()) return Value();
  const Node& node = current().builder.at(*input);
  if (node.op == Op::kMaskTo && node.value == neutral) return MakeValue(*input);
  const ValueType type = GetType(value);
  return Add({.op = Op::kMaskTo,
              .args = {RefArg(*input), Arg{neutral}},
              .dtype = type.dtype,
              .shape = type.shape,
              .value = neutral});
}

std::optional<OperandType> Trace::State::TypeOfOperand(const Operand& operand) const {
  if (!operand.is_value_) return OperandType{operand.is_integer_ ? DType::kI32 : DType::kF32, true};
  const Node* node = Find(operand.value_);
  if (node == nullptr) return std::nullopt;
  return OperandType{node->dtype.value_or(DType::kF32), node->op == Op::kScalar || node->is_number};
}

Value Trace::State::Pointwise(Op op, const std::vector<Operand>& operands) {
  if (!IsPointwise(op) || op == Op::kConvert || static_cast<int>(operands.size()) != Arity(op)) {
    Error(Cat(BaseName(op), " with ", operands.size(), " operands is not a pointwise operation"));
    return Value();
  }
  std::vector<OperandType> types;
  for (const Operand& operand : operands) {
    if (operand.is_value_ && !Reach(operand.value_).has_value()) return Value();
    types.push_back(*TypeOfOperand(operand));
  }
  const size_t first = op == Op::kWhere ? 1 : 0;
  if (first == 1 && (types[0].dtype != DType::kBool || !operands[0].is_value_)) {
    Error("the condition of where is not bool");
    return Value();
  }
  const absl::StatusOr<PointwiseType> type = TypeOfPointwise(op, absl::MakeConstSpan(types).subspan(first));
  if (!type.ok()) {
    Error(type.status().message().data());
    return Value();
  }
  Node node{.op = op, .dtype = type->result};
  bool any_value = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (!operand.is_value_) {
      node.args.push_back(operand.is_integer_ ? NumberArg(WrappedNumber(operand.number_, type->operands))
                                              : NumberArg(operand.number_));
      continue;
    }
    Value value = operand.value_;
    if (i >= first && !CanCombine(types[i].dtype, type->operands)) {
      value = Convert(value, IsFloat(type->operands) ? DType::kF32 : type->operands);
    }
    any_value = true;
    node.args.push_back(RefArg(*Reach(value)));
    node.shape = UnionOfAxes(node.shape, GetType(value).shape);
  }
  if (!any_value) {
    Error(Cat(BaseName(op), " has only numbers as operands"));
    return Value();
  }
  return Add(std::move(node));
}

Value Trace::State::Reduce(Op op, const Value& given, AxisRef axis) {
  if (!Reach(given).has_value() || !IsUsable(axis)) return Value();
  Value value = given;
  ValueType type = GetType(value);
  if (!HasAxis(type.shape, axis.id)) {
    Error(Cat(BaseName(op), " along u", axis.id, " of a value that has the axes ", AxisNames(type.shape)));
    return Value();
  }
  if (type.dtype == DType::kBool && op != Op::kSum) {
    type.dtype = DType::kI32;
    value = Convert(value, type.dtype);
  }
  value = Mask(value, NeutralValue(op, type.dtype));
  return Add({.op = op,
              .args = {RefArg(*Reach(value))},
              .dtype = TypeOfReduction(op, type.dtype),
              .shape = WithoutAxis(type.shape, axis.id),
              .axis = axis.id});
}

bool Trace::State::CheckDot(const Value& a, const Value& b, AxisRef axis) {
  if (!Reach(a).has_value() || !Reach(b).has_value() || !IsUsable(axis)) return false;
  const ValueType left = GetType(a);
  const ValueType right = GetType(b);
  for (const auto& [type, side] : {std::pair(&left, "first"), std::pair(&right, "second")}) {
    if (HasAxis(type->shape, axis.id)) continue;
    Error(Cat("dot along u", axis.id, ": its ", side, " operand has the axes ", AxisNames(type->shape)));
    return false;
  }
  if (left.dtype != right.dtype || !IsFloat(left.dtype)) {
    Error(Cat("dot of ", ShortName(left.dtype), " and ", ShortName(right.dtype),
              ": both have to be f32, both f16 or both bf16"));
    return false;
  }
  for (int shared : left.shape) {
    if (shared == axis.id || !HasAxis(right.shape, shared) || ir.axes[static_cast<size_t>(shared)].fixed_block == 1) {
      continue;
    }
    Error(Cat("dot: both operands have the axis u", shared, ", whose block is not fixed at 1"));
    return false;
  }
  return true;
}

Value Trace::State::Dot(Value a, Value b, AxisRef axis, const Value* accumulator) {
  if (!CheckDot(a, b, axis)) return Value();
  const std::vector<int> shape = WithoutAxis(UnionOfAxes(GetType(a).shape, GetType(b).shape), axis.id);
  if (accumulator != nullptr && !Expect(*accumulator, {DType::kF32, shape}, "the accumulator of dot")) return Value();
  a = Mask(a, 0);
  b = Mask(b, 0);
  Node node{.op = Op::kDot, .dtype = DType::kF32, .shape = shape, .axis = axis.id};
  node.args = {RefArg(*Reach(a)), RefArg(*Reach(b))};
  if (accumulator != nullptr) node.args.push_back(RefArg(*Reach(*accumulator)));
  return Add(std::move(node));
}

std::optional<Arg> Trace::State::MakeIndex(const IndexArg& index, const Size& size, std::vector<int>* shape) {
  if (const auto* literal = std::get_if<int64_t>(&index)) {
    if (*literal >= 0 && *literal < size.value) return Arg{*literal};
    Error(Cat("the index ", *literal, " is outside of a dimension of size ", size.text));
    return std::nullopt;
  }
  if (const auto* value = std::get_if<Value>(&index)) {
    const std::optional<NodeRef> ref = Reach(*value);
    if (!ref.has_value()) return std::nullopt;
    const ValueType type = GetType(*value);
    if (!IsInteger(type.dtype)) {
      Error(Cat("an index is ", ShortName(type.dtype), ", not an integer"));
      return std::nullopt;
    }
    *shape = UnionOfAxes(*shape, type.shape);
    return RefArg(*ref);
  }
  const AxisRef axis = std::get<AxisRef>(index);
  if (!IsUsable(axis)) return std::nullopt;
  const Axis& info = ir.axes[static_cast<size_t>(axis.id)];
  if (info.extent.value > size.value) {
    Error(Cat("the axis ", info.symbol(), " of extent ", info.extent.text, " indexes a dimension of size ", size.text));
    return std::nullopt;
  }
  *shape = UnionOfAxes(*shape, {axis.id});
  if (info.kind == AxisKind::kReduction) return Arg{Slice{axis.id}};
  return RefArg(current().builder.BlockSize(axis.id, location()));
}

std::optional<Arg> Trace::State::IndexList(TensorRef tensor, const std::vector<IndexArg>& indices,
                                           std::vector<int>* shape) {
  if (!IsUsable(tensor)) return std::nullopt;
  const HostTensor& info = ir.tensors[static_cast<size_t>(tensor.id)];
  if (indices.size() != info.sizes.size()) {
    Error(Cat("tensor '", info.name, "' has ", info.sizes.size(), " dimensions and is given ", indices.size(),
              " indices"));
    return std::nullopt;
  }
  Arg::List list;
  for (size_t i = 0; i < indices.size(); ++i) {
    std::optional<Arg> index = MakeIndex(indices[i], info.sizes[i], shape);
    if (!index.has_value()) return std::nullopt;
    list.push_back(std::move(*index));
  }
  return Arg{std::move(list)};
}

}  // namespace telemetry::worker::ir
