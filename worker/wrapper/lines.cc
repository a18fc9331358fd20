#include "worker/wrapper/lines.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "proto/record/strings.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

std::string ListText(absl::Span<const int64_t> numbers) { return Cat("[", absl::StrJoin(numbers, ", "), "]"); }

// The text of a line in a plan's text.
class LineWriter {
 public:
  explicit LineWriter(const Plan& plan) : plan_(plan) {}

  std::string operator()(const DefineKernel& line) const {
    const PlanKernel& kernel = plan_.kernel(line.kernel);
    const std::string config = kernel.config.has_value() ? Cat(" ", kernel.config->ToString()) : "";
    const std::string origin = kernel.source == nullptr ? "" : Cat(" of ", kernel.source->origin);
    return Cat("define ", kernel.name, ": ", kernel.library->name, " ", kernel.problem.ToString(), config, origin);
  }
  std::string operator()(const Allocate& line) const { return Cat("allocate ", WithLayout(line.buffer)); }
  std::string operator()(const Free& line) const { return Cat("free ", Name(line.buffer)); }
  std::string operator()(const FreeIfNotReused& line) const { return Cat("free_if_not_reused ", Name(line.buffer)); }
  std::string operator()(const Reuse& line) const {
    return Cat("reuse ", Name(line.from), " as ", WithLayout(line.to));
  }
  std::string operator()(const Reinterpret& line) const {
    const PlanBuffer& view = plan_.buffer(line.view);
    return Cat("view ", view.name, " of ", Name(line.base), ": ", ListText(view.sizes), " strides ",
               ListText(view.strides), " offset ", line.offset);
  }
  std::string operator()(const CallKernel& line) const {
    return Cat("call ", CallText(line.call), " -> ", OutputsText(line.call));
  }
  std::string operator()(const CallExtern& line) const {
    return Cat("extern ", CallText(line.call), " -> ", OutputsText(line.call));
  }
  std::string operator()(const CallExternAllocating& line) const {
    const std::string result = line.pack.empty() ? WithLayout(line.call.outputs[0]) : line.pack;
    return Cat("extern_allocating ", CallText(line.call), " -> ", result);
  }
  std::string operator()(const Unpack& line) const {
    return Cat("unpack ", line.pack, "[", line.index, "] as ", WithLayout(line.buffer));
  }
  std::string operator()(const IndexPut& line) const {
    return Cat("index_put ", Name(line.target), "[", Name(line.indices), "] ", line.accumulate ? "+=" : "=", " ",
               Name(line.values));
  }
  std::string operator()(const Scatter& line) const {
    const std::string_view reduction = ReductionName(line.reduction);
    return Cat("scatter ", Name(line.target), "[", Name(line.indices), "] dimension ", line.dimension,
               reduction.empty() ? "" : " ", reduction, " = ", line.values < 0 ? Cat(line.number) : Name(line.values));
  }
  std::string operator()(const Concatenate& line) const {
    std::vector<std::string> names;
    for (const int tensor : line.tensors) names.push_back(Name(tensor));
    return Cat("concatenate [", absl::StrJoin(names, ", "), "] dimension ", line.dimension, " -> ", Name(line.output));
  }
  std::string operator()(const EnterSubgraph& line) const { return Cat("enter_subgraph ", line.name); }
  std::string operator()(const ExitSubgraph&) const { return "exit_subgraph"; }
  std::string operator()(const If& line) const { return Cat("if ", Name(line.predicate)); }
  std::string operator()(const Else&) const { return "else"; }
  std::string operator()(const EndIf&) const { return "end_if"; }
  std::string operator()(const Comment& line) const { return Cat("# ", line.text); }

 private:
  const std::string& Name(int buffer) const { return plan_.buffer(buffer).name; }
  std::string WithLayout(int buffer) const { return Cat(Name(buffer), " ", plan_.buffer(buffer).LayoutText()); }

  std::string CallText(const KernelCall& call) const {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    std::vector<std::string> parts;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      parts.push_back(Cat(kernel.library->tensors[i].name, "=", Name(call.arguments[i])));
    }
    for (const auto& [name, value] : call.scalars) parts.push_back(Cat(name, "=", value));
    return Cat(kernel.name, "(", absl::StrJoin(parts, ", "), ")");
  }
  std::string OutputsText(const KernelCall& call) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      parts.push_back(Cat(plan_.kernel(call.kernel).outputs[i].name, "=", Name(call.outputs[i])));
    }
    return absl::StrJoin(parts, ", ");
  }

  const Plan& plan_;
};

struct EffectsReader {
  LineEffects operator()(const DefineKernel&) const { return {}; }
  LineEffects operator()(const Allocate& line) const { return {.makes = {line.buffer}}; }
  LineEffects operator()(const Free& line) const { return {.frees = line.buffer}; }
  LineEffects operator()(const FreeIfNotReused& line) const { return {.frees = line.buffer}; }
  LineEffects operator()(const Reuse& line) const { return {.makes = {line.to}, .frees = line.from}; }
  LineEffects operator()(const Reinterpret& line) const { return {.uses = {line.base}}; }
  LineEffects operator()(const CallKernel& line) const { return OfCall(line.call); }
  LineEffects operator()(const CallExtern& line) const { return OfCall(line.call); }
  LineEffects operator()(const CallExternAllocating& line) const {
    return {.uses = line.call.arguments, .makes = line.call.outputs};
  }
  LineEffects operator()(const Unpack& line) const { return {.uses = {line.buffer}}; }
  LineEffects operator()(const IndexPut& line) const { return {.uses = {line.target, line.indices, line.values}}; }
  LineEffects operator()(const Scatter& line) const {
    LineEffects effects = {.uses = {line.target, line.indices}};
    if (line.values >= 0) effects.uses.push_back(line.values);
    return effects;
  }
  LineEffects operator()(const Concatenate& line) const {
    LineEffects effects{.uses = line.tensors};
    effects.uses.push_back(line.output);
    return effects;
  }
  LineEffects operator()(const If& line) const { return {.uses = {line.predicate}}; }
  LineEffects operator()(const EnterSubgraph&) const { return {}; }
  LineEffects operator()(const ExitSubgraph&) const { return {}; }
  LineEffects operator()(const Else&) const { return {}; }
  LineEffects operator()(const EndIf&) const { return {}; }
  LineEffects operator()(const Comment&) const { return {}; }

  static LineEffects OfCall(const KernelCall& call) {
    LineEffects effects{.uses = call.arguments};
    effects.uses.insert(effects.uses.end(), call.outputs.begin(), call.outputs.end());
    return effects;
  }
};

}  // namespace

std::vector<PlanBuffer> Plan::Buffers(const std::vector<int>& ids) const {
  std::vector<PlanBuffer> of_ids;
  for (const int id : ids) of_ids.push_back(buffer(id));
  return of_ids;
}

std::string Plan::LineText(const Line& line) const { return std::visit(LineWriter(*this), line); }

std::string Plan::DebugString() const {
  std::string text = Cat("plan ", name, "\n");
  for (const int id : inputs) absl::StrAppend(&text, "input ", buffer(id).name, " ", buffer(id).LayoutText(), "\n");
  for (const Line& line : lines) absl::StrAppend(&text, LineText(line), "\n");
  for (const int id : outputs) absl::StrAppend(&text, "output ", buffer(id).name, "\n");
  return text;
}

LineEffects ComputeEffects(const Line& line) { return std::visit(EffectsReader(), line); }

const KernelCall* AsKernelCall(const Line& line) {
  if (const auto* kernel = std::get_if<CallKernel>(&line)) return &kernel->call;
  if (const auto* library = std::get_if<CallExtern>(&line)) return &library->call;
  const auto* allocating = std::get_if<CallExternAllocating>(&line);
  return allocating == nullptr ? nullptr : &allocating->call;
}

bool IsCall(const Line& line) {
  return AsKernelCall(line) != nullptr || AsUpdate(line).has_value() || std::holds_alternative<Concatenate>(line);
}

std::optional<Update> AsUpdate(const Line& line) {
  if (const auto* put = std::get_if<IndexPut>(&line)) {
    return Update{.target = put->target, .indices = put->indices, .values = put->values};
  }
  const auto* scatter = std::get_if<Scatter>(&line);
  if (scatter == nullptr) return std::nullopt;
  return Update{.target = scatter->target,
                .indices = scatter->indices,
                .values = scatter->values,
                .dimension = scatter->dimension};
}

std::string_view ReductionName(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return "";
    case Reduction::kSum:
      return "sum";
    case Reduction::kProduct:
      return "prod";
    case Reduction::kMax:
      return "amax";
    case Reduction::kMin:
      return "amin";
    case Reduction::kMean:
      return "mean";
  }
  return "";
}

std::string Plan::CallName(const Line& line) const {
  const KernelCall* call = AsKernelCall(line);
  if (call != nullptr) return kernel(call->kernel).name;
  if (std::holds_alternative<Concatenate>(line)) return "concatenate";
  return std::holds_alternative<Scatter>(line) ? "scatter" : "index_put";
}

const SourceKernel* FindSourceKernel(const Plan& plan) {
  for (const PlanKernel& kernel : plan.kernels) {
    if (kernel.source != nullptr) return kernel.source.get();
  }
  return nullptr;
}

kernels::Problem MakeCallProblem(const PlanKernel& kernel, const KernelCall& call) {
  kernels::Problem problem = kernel.problem;
  problem.numbers.insert(call.scalars.begin(), call.scalars.end());
  for (const kernels::NumberArgument& number : kernel.library->numbers) {
    problem.numbers.emplace(number.name, number.default_value);
  }
  return problem;
}

std::vector<Place> ComputePlaces(const Plan& plan) {
  std::vector<Place> places(plan.buffers.size());
  for (size_t i = 0; i < places.size(); ++i) places[i].root = static_cast<int>(i);
  for (const Line& line : plan.lines) {
    const auto* view = std::get_if<Reinterpret>(&line);
    if (view == nullptr) continue;
    const Place& base = places[static_cast<size_t>(view->base)];
    places[static_cast<size_t>(view->view)] = {.root = base.root, .offset = base.offset + view->offset};
  }
  return places;
}

}  // namespace telemetry::worker::wrapper
