#include "worker/ir/trace.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/roll.h"
#include "worker/ir/trace_state.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using record::Cat;

// Returns the stride of a dimension of a dense tensor: the product of the sizes of the later dimensions.
Size MultiplySizes(absl::Span<const Size> sizes) {
  Size product{.text = "1", .value = 1, .is_static = true};
  int64_t factor = 1;
  std::string symbols;
  for (const Size& size : sizes) {
    product.value *= size.value;
    product.is_static = product.is_static && size.is_static;
    if (size.is_static) {
      factor *= size.value;
    } else {
      absl::StrAppend(&symbols, symbols.empty() ? "" : "*", size.text);
    }
  }
  product.text = absl::StrCat(symbols.empty() || factor != 1 ? absl::StrCat(factor) : "",
                              symbols.empty() || factor == 1 ? "" : "*", symbols);
  return product;
}

}  // namespace

DType Value::dtype() const { return valid() ? trace_->state_->GetType(*this).dtype : DType::kF32; }

const std::vector<int>& Value::shape() const {
  static const auto* const kNone = new std::vector<int>();
  return valid() ? trace_->state_->Keep(trace_->state_->GetType(*this).shape) : *kNone;
}

Value Value::To(DType dtype) const { return valid() ? trace_->state_->Convert(*this, dtype) : Value(); }

namespace {

// Returns the value of a number; nullopt for other constants.
std::optional<double> AsNumber(const Constant& constant) {
  if (const auto* boolean = std::get_if<bool>(&constant)) return *boolean ? 1 : 0;
  if (const auto* integer = std::get_if<int64_t>(&constant)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&constant)) return *real;
  return std::nullopt;
}

// Returns the dtype that a number has as a scalar.
DType DTypeOfNumber(const Constant& constant) {
  const auto* integer = std::get_if<int64_t>(&constant);
  if (integer != nullptr && *integer != static_cast<int32_t>(*integer)) return DType::kI64;
  return std::holds_alternative<double>(constant) ? DType::kF32 : DType::kI32;
}

}  // namespace

Trace::Trace(TraceInputs inputs) : state_(std::make_unique<State>(this, std::move(inputs))) {}
Trace::~Trace() = default;

TensorRef Trace::Tensor(const std::string& name) {
  const auto& tensors = state_->ir.tensors;
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const HostTensor& t) { return t.name == name; });
  if (found != tensors.end()) return TensorRef{static_cast<int>(found - tensors.begin())};
  state_->Error(Cat("there is no tensor '", name, "'"));
  return TensorRef();
}

Value Trace::Scalar(const std::string& name, Location at) {
  state_->At(at);
  const auto& scalars = state_->ir.scalars;
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (scalars[i].name != name) continue;
    return state_->MakeValue(state_->current().builder.Scalar(static_cast<int>(i), state_->location()));
  }
  const Constant* constant = FindConstant(name);
  const std::optional<double> number = constant == nullptr ? std::nullopt : AsNumber(*constant);
  if (!number.has_value()) {
    state_->Error(Cat("there is no scalar '", name, "'"));
    return Value();
  }
  return state_->Add({.op = Op::kFull, .dtype = DTypeOfNumber(*constant), .value = *number, .is_number = true});
}

const Constant* Trace::FindConstant(const std::string& name) const {
  const auto found = state_->inputs.constants.find(name);
  return found == state_->inputs.constants.end() ? nullptr : &found->second;
}

const HostTensor& Trace::TensorInfo(TensorRef tensor) const {
  static const auto* const kNone = new HostTensor();
  return state_->IsUsable(tensor) ? state_->ir.tensors[static_cast<size_t>(tensor.id)] : *kNone;
}

Size Trace::SizeOf(TensorRef tensor, int dimension) const {
  const HostTensor& info = TensorInfo(tensor);
  if (dimension < 0 || static_cast<size_t>(dimension) >= info.sizes.size()) {
    state_->Error(Cat("tensor '", info.name, "' has no dimension ", dimension));
    return Size();
  }
  Size size = info.sizes[static_cast<size_t>(dimension)];
  if (size.tensor == -1 && !info.is_output) {
    size.tensor = tensor.id;
    size.dimension = dimension;
  }
  return size;
}

int64_t Trace::Specialize(const Size& size) {
  auto& sizes = state_->ir.specialized_sizes;
  if (!size.is_static && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  return size.value;
}

double Trace::SpecializeScalar(const std::string& name) {
  const auto found = state_->inputs.scalar_values.find(name);
  if (found == state_->inputs.scalar_values.end()) {
    const Constant* constant = FindConstant(name);
    if (constant != nullptr && AsNumber(*constant).has_value()) return *AsNumber(*constant);
    state_->Error(Cat("scalar '", name, "' has no value to specialise on"));
    return 0;
  }
  state_->ir.specialized_scalars[name] = found->second;
  return found->second;
}

TensorRef Trace::Output(const std::string& name, std::vector<Size> sizes, DType dtype) {
  auto& tensors = state_->ir.tensors;
  if (std::any_of(tensors.begin(), tensors.end(), [&](const HostTensor& tensor) { return tensor.name == name; })) {
    state_->Error(Cat("tensor '", name, "' already exists"));
    return TensorRef();
  }
  HostTensor output{.name = name, .dtype = dtype, .sizes = std::move(sizes), .is_output = true};
  for (size_t i = 0; i < output.sizes.size(); ++i) {
    output.strides.push_back(MultiplySizes(absl::MakeConstSpan(output.sizes).subspan(i + 1)));
  }
  tensors.push_back(std::move(output));
  return TensorRef{static_cast<int>(tensors.size()) - 1};
}

TensorRef Trace::OutputLike(const std::string& name, TensorRef tensor) {
  std::vector<Size> sizes;
  for (int i = 0; i < Rank(tensor); ++i) sizes.push_back(SizeOf(tensor, i));
  return Output(name, std::move(sizes), TensorInfo(tensor).dtype);
}

AxisRef Trace::Tile(const Size& extent, int64_t fixed_block) {
  if (!state_->in_root() || !state_->current().builder.graph().nodes.empty()) {
    state_->Error("Tile() is called after the first computation; add the axes of the grid first");
  }
  return state_->AddAxis(AxisKind::kGrid, extent, fixed_block);
}

AxisRef Trace::ReductionAxis(const Size& extent) { return state_->AddAxis(AxisKind::kReduction, extent, 0); }

Value Trace::Load(TensorRef tensor, const std::vector<IndexArg>& indices, Location at) {
  state_->At(at);
  if (!state_->IsUsable(tensor)) return Value();
  Node node{.op = Op::kLoad, .dtype = TensorInfo(tensor).dtype};
  const NodeRef host = state_->current().builder.HostTensor(tensor.id, state_->location());
  std::optional<Arg> list = state_->IndexList(tensor, indices, &node.shape);
  if (!list.has_value()) return Value();
  node.args = {RefArg(host), std::move(*list)};
  return state_->Add(std::move(node));
}

void Trace::Store(TensorRef tensor, const std::vector<IndexArg>& indices, Value value, Location at) {
  state_->At(at);
  if (!state_->IsUsable(tensor) || !state_->Reach(value).has_value()) return;
  const HostTensor& info = TensorInfo(tensor);
  const Value converted = state_->Convert(value, info.dtype);
  const NodeRef host = state_->current().builder.HostTensor(tensor.id, state_->location());
  std::vector<int> shape;
  std::optional<Arg> list = state_->IndexList(tensor, indices, &shape);
  if (!list.has_value()) return;
  const int surplus = AxisNotIn(value.shape(), shape);
  if (surplus != -1) {
    state_->Error(Cat("the value stored to '", info.name, "' has the axis u", surplus, ", which no index has"));
    return;
  }
  state_->Add({.op = Op::kStore, .args = {RefArg(host), std::move(*list), RefArg(*state_->Reach(converted))}});
}

Value Trace::Full(const std::vector<AxisRef>& axes, double value, DType dtype, Location at) {
  state_->At(at);
  Node node{.op = Op::kFull, .dtype = dtype, .value = value};
  for (AxisRef axis : axes) {
    if (!state_->IsUsable(axis)) return Value();
    node.shape = UnionOfAxes(node.shape, {axis.id});
  }
  if (!node.shape.empty()) return state_->Add(std::move(node));
  return state_->MakeValue(state_->current().builder.Constant(value, dtype, state_->location()));
}

Value Trace::Index(AxisRef axis, Location at) {
  state_->At(at);
  if (!state_->IsUsable(axis)) return Value();
  return state_->Add({.op = Op::kIndex, .dtype = DType::kI32, .shape = {axis.id}, .axis = axis.id});
}

Value Trace::TileBegin(AxisRef axis, Location at) {
  state_->At(at);
  if (!state_->IsUsable(axis)) return Value();
  return state_->Add({.op = Op::kTileBegin, .dtype = DType::kI32, .axis = axis.id});
}

Value Trace::TileEnd(AxisRef axis, Location at) {
  state_->At(at);
  if (!state_->IsUsable(axis)) return Value();
  return state_->Add({.op = Op::kTileEnd, .dtype = DType::kI32, .axis = axis.id});
}

Value Trace::Pointwise(Op op, const std::vector<Operand>& operands, Location at) {
  state_->At(at);
  return state_->Pointwise(op, operands);
}

Value Trace::Where(Value condition, Operand then, Operand otherwise, Location at) {
  return Pointwise(Op::kWhere, {condition, then, otherwise}, at);
}

Value Trace::Apply(Op op, const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (operand.value_.valid()) return operand.value_.trace_->state_->Pointwise(op, operands);
  }
  return Value();
}

void Trace::Fail(absl::Status status) {
  if (state_->error.ok()) state_->error = std::move(status);
}

absl::StatusOr<DeviceIr> Trace::Finish() {
  if (state_->finished) return absl::FailedPreconditionError("the trace is finished already");
  state_->finished = true;
  if (!state_->error.ok()) return state_->error;
  state_->CloseRoot();
  RollReductions(&state_->ir);
  RETURN_IF_ERROR(Verify(state_->ir));
  return std::move(state_->ir);
}

}  // namespace telemetry::worker::ir
