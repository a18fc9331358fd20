#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/trace_state.h"
#include "worker/ir/type_rules.h"

// The part of Trace that adds control flow. Each body is traced once, as a region of its own.

namespace telemetry::worker::ir {

using device::DType;
using record::Cat;

bool Trace::State::Adapt(const std::vector<ValueType>& types, const Carried& values, std::string_view what,
                         Region* region) {
  if (values.size() != types.size()) {
    Error(Cat(what, " returns ", values.size(), " values, but ", types.size(), " are expected"));
    return false;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!Reach(values[i]).has_value()) return false;
    const std::vector<int> shape = GetType(values[i]).shape;
    if (const int surplus = AxisNotIn(shape, types[i].shape); surplus != -1) {
      Error(
          Cat("result ", i, " of ", what, " has the axis u", surplus, ", which is not in ", AxisNames(types[i].shape)));
      return false;
    }
    const Value adapted = Broadcast(Convert(values[i], types[i].dtype), types[i].shape);
    region->results.push_back(*Reach(adapted));
  }
  return true;
}

Trace::Carried Trace::State::AddResults(const std::vector<ValueType>& types, const Value& call) {
  Carried results;
  for (size_t i = 0; i < types.size(); ++i) {
    results.push_back(Add({.op = Op::kGetItem,
                           .args = {RefArg(*Reach(call)), Arg{static_cast<int64_t>(i)}},
                           .dtype = types[i].dtype,
                           .shape = types[i].shape,
                           .item = static_cast<int>(i)}));
  }
  return results;
}

Trace::Carried Trace::State::AddParameters(const std::vector<ValueType>& types) {
  Carried parameters;
  for (const ValueType& type : types) parameters.push_back(AddParameter(type));
  return parameters;
}

Trace::Carried Trace::For(const Size& extent, const Carried& carried, const LoopBody& body, Location at) {
  return For(extent, carried, body, ForOptions(), at);
}

Trace::Carried Trace::For(const Size& extent, const Carried& carried, const LoopBody& body, ForOptions options,
                          Location at) {
  State& state = *state_;
  state.At(at);
  const AxisRef axis = state.AddAxis(AxisKind::kLoop, extent, options.fixed_block);
  const std::vector<ValueType> types = state.GetTypes(carried);
  std::optional<Arg::List> initial = state.ReachAll(carried);
  Arg end;
  if (options.end.valid() && state.Expect(options.end, {DType::kI32, {}}, "the end of a loop")) {
    end = RefArg(*state.Reach(options.end));
  }

  std::vector<NodeRef> captures;
  const auto region = state.NewRegion(GraphKind::kForLoop, {axis.id}, &captures);
  state.Enter(region.get());
  const Carried results = body(axis, state.AddParameters(types));
  state.At(at);
  const bool adapted = state.Adapt(types, results, "the loop body", region.get());
  state.Leave();
  if (!adapted || !initial.has_value()) return Carried(types.size());
  state.Close(region.get());
  const Value loop = state.Add({.op = Op::kForLoop,
                                .args = {State::Refs(captures), Arg{std::move(*initial)}, end},
                                .axis = axis.id,
                                .graphs = {region->graph_id()}});
  return state.AddResults(types, loop);
}

Trace::Carried Trace::If(Value condition, const std::function<Carried()>& then,
                         const std::function<Carried()>& otherwise, Location at) {
  State& state = *state_;
  state.At(at);
  bool fine = state.Expect(condition, {DType::kBool, {}}, "the condition of If");
  std::vector<NodeRef> captures;
  const auto then_region = state.NewRegion(GraphKind::kIf, {}, &captures);
  const auto else_region = state.NewRegion(GraphKind::kElse, {}, &captures);
  state.Enter(then_region.get());
  const Carried then_results = then();
  const std::vector<ValueType> then_types = state.GetTypes(then_results);
  state.Leave();
  state.Enter(else_region.get());
  const Carried else_results = otherwise();
  state.At(at);
  // The results have the dtype and the axes that the results of both branches convert to.
  std::vector<ValueType> types = then_types;
  const std::vector<ValueType> else_types = state.GetTypes(else_results);
  for (size_t i = 0; i < types.size() && i < else_types.size(); ++i) {
    const OperandType both[] = {{types[i].dtype}, {else_types[i].dtype}};
    types[i] = {TypeOfPointwise(Op::kWhere, both)->result, UnionOfAxes(types[i].shape, else_types[i].shape)};
  }
  fine = state.Adapt(types, else_results, "the else branch", else_region.get()) && fine;
  state.Leave();
  state.Enter(then_region.get());
  fine = state.Adapt(types, then_results, "the then branch", then_region.get()) && fine;
  state.Leave();
  if (!fine) return Carried(types.size());
  state.Close(then_region.get());
  state.Close(else_region.get());
  const Value branch = state.Add({.op = Op::kIf,
                                  .args = {RefArg(*state.Reach(condition)), State::Refs(captures)},
                                  .graphs = {then_region->graph_id(), else_region->graph_id()}});
  return state.AddResults(types, branch);
}

Trace::Carried Trace::While(const Carried& carried, const std::function<Value(const Carried&)>& condition,
                            const std::function<Carried(const Carried&)>& body, Location at) {
  State& state = *state_;
  state.At(at);
  const std::vector<ValueType> types = state.GetTypes(carried);
  std::optional<Arg::List> initial = state.ReachAll(carried);
  std::vector<NodeRef> captures;
  const auto test = state.NewRegion(GraphKind::kWhileCondition, {}, &captures);
  const auto loop = state.NewRegion(GraphKind::kWhileLoop, {}, &captures);
  state.Enter(test.get());
  const Value goes_on = condition(state.AddParameters(types));
  state.At(at);
  bool fine = state.Expect(goes_on, {DType::kBool, {}}, "the condition of While") &&
              state.Adapt({{DType::kBool, {}}}, {goes_on}, "the condition of While", test.get());
  state.Leave();
  state.Enter(loop.get());
  const Carried results = body(state.AddParameters(types));
  state.At(at);
  fine = state.Adapt(types, results, "the body of While", loop.get()) && fine;
  state.Leave();
  if (!fine || !initial.has_value()) return Carried(types.size());
  state.Close(test.get());
  state.Close(loop.get());
  const Value node = state.Add({.op = Op::kWhile,
                                .args = {State::Refs(captures), Arg{std::move(*initial)}},
                                .graphs = {test->graph_id(), loop->graph_id()}});
  return state.AddResults(types, node);
}

Value Trace::Call(const std::string& name, const std::vector<Value>& arguments,
                  const std::function<Value(const std::vector<Value>&)>& function, Location at) {
  State& state = *state_;
  state.At(at);
  std::optional<Arg::List> passed = state.ReachAll(arguments);
  std::vector<NodeRef> captures;
  const auto region = state.NewRegion(GraphKind::kHelperFunction, {}, &captures, name);
  state.Enter(region.get());
  const Value result = function(state.AddParameters(state.GetTypes(arguments)));
  const std::vector<ValueType> types = {state.GetType(result)};
  state.At(at);
  const bool adapted = state.Adapt(types, {result}, Cat("the function ", name), region.get());
  state.Leave();
  if (!adapted || !passed.has_value()) return Value();
  state.Close(region.get());
  Arg list = State::Refs(captures);
  auto& all = std::get<Arg::List>(list.value);
  all.insert(all.end(), passed->begin(), passed->end());
  const Value call =
      state.Add({.name = name, .op = Op::kCall, .args = {std::move(list)}, .graphs = {region->graph_id()}});
  return state.AddResults(types, call)[0];
}

}  // namespace telemetry::worker::ir
