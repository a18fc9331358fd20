#include "worker/ir/trace.h"
#include "worker/ir/trace_state.h"

// The part of Trace that adds reductions and dots.

namespace telemetry::worker::ir {

using device::DType;

Value Trace::Sum(Value value, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Reduce(Op::kSum, value, axis);
}

Value Trace::Mean(Value value, AxisRef axis, Location at) {
  const Value sum = Sum(value, axis, at);
  if (!sum.valid()) return Value();
  const Axis& info = state_->ir.axes[static_cast<size_t>(axis.id)];
  const bool whole = info.kind == AxisKind::kReduction;
  const Value total = sum.To(DType::kF32);
  if (whole && info.extent.is_static) return total / static_cast<double>(info.extent.value);
  const Value end = TileEnd(axis, at);
  const Value count = whole ? end : end - TileBegin(axis, at);
  return total / count.To(DType::kF32);
}

Value Trace::AMax(Value value, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Reduce(Op::kAMax, value, axis);
}

Value Trace::AMin(Value value, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Reduce(Op::kAMin, value, axis);
}

Value Trace::Prod(Value value, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Reduce(Op::kProd, value, axis);
}

Value Trace::ArgMax(Value value, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Reduce(Op::kArgMax, value, axis);
}

Value Trace::Dot(Value a, Value b, AxisRef axis, Location at) {
  state_->At(at);
  return state_->Dot(a, b, axis, nullptr);
}

Value Trace::Dot(Value a, Value b, AxisRef axis, Value accumulator, Location at) {
  state_->At(at);
  return state_->Dot(a, b, axis, &accumulator);
}

}  // namespace telemetry::worker::ir
