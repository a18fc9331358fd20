#include "worker/ir/carried_reduction.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

// Returns the op that combines the partial results of two chunks.
Op CombiningOp(Op reduction) {
  switch (reduction) {
    case Op::kAMax:
      return Op::kMaximum;
    case Op::kAMin:
      return Op::kMinimum;
    case Op::kProd:
      return Op::kMul;
    default:
      return Op::kAdd;
  }
}

}  // namespace

void CarriedReduction::Begin(std::optional<NodeRef> accumulator, GraphBuilder* outside, GraphBuilder* body,
                             Arg::List* initial) {
  const Node& reduces = this->reduces();
  const DType dtype = *reduces.dtype;
  const DType input = *graph_.at(*AsRef(reduces.args[0])).dtype;
  if (accumulator.has_value()) {
    Carry(dtype, *accumulator, body, initial);
  } else if (reduces.op == Op::kArgMax) {
    const DType largest = TypeOfReduction(Op::kAMax, input);
    Carry(largest, Neutral(NeutralValue(Op::kAMax, input), largest, outside), body, initial);
    Carry(dtype, Neutral(0, dtype, outside), body, initial);
  } else {
    Carry(dtype, Neutral(NeutralValue(reduces.op, input), dtype, outside), body, initial);
  }
}

NodeRef CarriedReduction::Neutral(double value, DType dtype, GraphBuilder* outside) const {
  const Node& reduces = this->reduces();
  if (reduces.shape.empty()) return outside->Constant(value, dtype, reduces.location);
  return outside->Add(
      {.op = Op::kFull, .dtype = dtype, .shape = reduces.shape, .value = value, .location = reduces.location});
}

void CarriedReduction::Carry(DType dtype, NodeRef from, GraphBuilder* body, Arg::List* initial) {
  const Node& reduces = this->reduces();
  parameters_.push_back(body->Add({.name = absl::StrCat("arg", body->graph().nodes.size(), "_1"),
                                   .op = Op::kPlaceholder,
                                   .dtype = dtype,
                                   .shape = reduces.shape,
                                   .location = reduces.location}));
  initial->push_back(RefArg(from));
}

void CarriedReduction::Combine(NodeRef chunk, GraphBuilder* body, Arg::List* results) const {
  const Node& reduces = this->reduces();
  if (reduces.op == Op::kDot) {
    results->push_back(RefArg(chunk));
  } else if (reduces.op == Op::kArgMax) {
    CombineArgMax(chunk, body, results);
  } else {
    const NodeRef combined =
        AddTo(body, CombiningOp(reduces.op), {RefArg(parameters_[0]), RefArg(chunk)}, *reduces.dtype);
    results->push_back(RefArg(combined));
  }
}

// A later position wins only with a larger value: the first of equal elements counts.
void CarriedReduction::CombineArgMax(NodeRef chunk, GraphBuilder* body, Arg::List* results) const {
  const Arg before = RefArg(parameters_[0]);
  const DType dtype = *body->graph().at(parameters_[0]).dtype;
  const NodeRef largest = body->Add({.op = Op::kAMax,
                                     .args = body->graph().at(chunk).args,
                                     .dtype = dtype,
                                     .shape = reduces().shape,
                                     .axis = reduces().axis,
                                     .location = reduces().location});
  const NodeRef wins = AddTo(body, Op::kGt, {RefArg(largest), before}, DType::kBool);
  results->push_back(RefArg(AddTo(body, Op::kMaximum, {before, RefArg(largest)}, dtype)));
  results->push_back(
      RefArg(AddTo(body, Op::kWhere, {RefArg(wins), RefArg(chunk), RefArg(parameters_[1])}, *reduces().dtype)));
}

NodeRef CarriedReduction::AddTo(GraphBuilder* body, Op op, std::vector<Arg> args, DType dtype) const {
  return body->Add(
      {.op = op, .args = std::move(args), .dtype = dtype, .shape = reduces().shape, .location = reduces().location});
}

}  // namespace telemetry::worker::ir
