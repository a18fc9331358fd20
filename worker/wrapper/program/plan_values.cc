#include "worker/wrapper/program/plan_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"
#include "worker/wrapper/concatenate.h"
#include "worker/wrapper/index_put.h"
#include "worker/wrapper/scatter.h"
#include "worker/wrapper/source_function.h"
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper::program {
namespace {

using device::DType;

// The values of the buffers while the references run on the host: for each buffer that is not a view, its memory as
// stored and as computed.
class HostValues {
 public:
  HostValues(const Plan& plan, const std::shared_ptr<device::Device>& references)
      : plan_(plan), references_(references), places_(ComputePlaces(plan)), memory_(plan.buffers.size()) {}

  void Set(int buffer, std::vector<double> values) {
    Memory& memory = memory_[static_cast<size_t>(buffer)];
    memory.exact = values;
    memory.stored = std::move(values);
  }

  absl::Status Run(const KernelCall& call) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    if (kernel.source != nullptr) return RunSource(*kernel.source, call);
    kernels::Case made{.problem = MakeCallProblem(kernel, call)};
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      made.tensors.emplace(kernel.library->tensors[i].name, StoredArray(call.arguments[i]));
    }
    kernels::Outputs results = kernel.library->reference(made);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto result = results.find(kernel.outputs[i].name);
      if (result == results.end()) {
        return absl::InternalError(record::Cat("the reference of '", kernel.library->name, "' lacks the output '",
                                               kernel.outputs[i].name, "'"));
      }
      Store(call.outputs[i], result->second.RowMajor());
    }
    return absl::OkStatus();
  }

  void Run(const IndexPut& put) {
    std::vector<double> rows = RowMajor(put.target, &Memory::stored);
    PutRows(RowMajor(put.indices, &Memory::stored), RowMajor(put.values, &Memory::stored), put.accumulate,
            plan_.buffer(put.target).sizes[0], &rows);
    Store(put.target, std::move(rows));
  }

  void Run(const Scatter& scatter) {
    std::vector<double> elements = RowMajor(scatter.target, &Memory::stored);
    const ScatterShape shape = {.target = plan_.buffer(scatter.target).sizes,
                                .indices = plan_.buffer(scatter.indices).sizes,
                                .dimension = scatter.dimension};
    const std::vector<double> indices = RowMajor(scatter.indices, &Memory::stored);
    const std::vector<double> values = scatter.values >= 0 ? RowMajor(scatter.values, &Memory::stored)
                                                           : std::vector<double>(indices.size(), scatter.number);
    ScatterElements(shape, indices, values, scatter.reduction, &elements);
    Store(scatter.target, std::move(elements));
  }

  void Run(const Concatenate& line) {
    std::vector<std::vector<double>> elements;
    for (const int tensor : line.tensors) elements.push_back(RowMajor(tensor, &Memory::stored));
    Store(line.output, ConcatenateElements(elements, plan_.Buffers(line.tensors), line.dimension));
  }

  bool IsTrue(int predicate) const { return RowMajor(predicate, &Memory::stored).at(0) != 0; }

  // Returns the elements as computed, not rounded.
  std::vector<double> ReadResult(int buffer) const { return RowMajor(buffer, &Memory::exact); }

 private:
  struct Memory {
    std::vector<double> exact;
    std::vector<double> stored;
  };

  absl::Status RunSource(const SourceKernel& kernel, const KernelCall& call) {
    std::vector<ir::HostArray> arguments;
    for (const int argument : call.arguments) arguments.push_back(StoredArray(argument));
    std::vector<ir::HostArray> outputs;
    for (const int output : call.outputs) outputs.push_back(StoredArray(output));
    RETURN_IF_ERROR(EvaluateReference(references_, kernel, arguments, &outputs));
    for (size_t i = 0; i < outputs.size(); ++i) Store(call.outputs[i], std::move(outputs[i].data));
    return absl::OkStatus();
  }

  // Returns the elements as stored, without gaps.
  ir::HostArray StoredArray(int buffer) const {
    const PlanBuffer& layout = plan_.buffer(buffer);
    return {.dtype = layout.dtype,
            .sizes = layout.sizes,
            .strides = ir::RowMajorStrides(layout.sizes),
            .data = RowMajor(buffer, &Memory::stored)};
  }

  void Store(int buffer, std::vector<double> values) {
    Set(buffer, std::move(values));
    const DType dtype = plan_.buffer(buffer).dtype;
    for (double& value : memory_[static_cast<size_t>(buffer)].stored) value = ir::RoundTo(dtype, value);
  }

  std::vector<double> RowMajor(int buffer, std::vector<double> Memory::*of) const {
    const PlanBuffer& layout = plan_.buffer(buffer);
    const Place& place = places_[static_cast<size_t>(buffer)];
    std::vector<double> memory = memory_[static_cast<size_t>(place.root)].*of;
    // Fills memory that no line wrote.
    memory.resize(static_cast<size_t>(plan_.buffer(place.root).span()), ir::FillValue(layout.dtype));
    const auto first = memory.begin() + static_cast<std::ptrdiff_t>(place.offset);
    const ir::HostArray shown{.dtype = layout.dtype,
                              .sizes = layout.sizes,
                              .strides = layout.strides,
                              .data = {first, first + static_cast<std::ptrdiff_t>(layout.span())}};
    return shown.RowMajor();
  }

  const Plan& plan_;
  const std::shared_ptr<device::Device>& references_;
  const std::vector<Place> places_;
  std::vector<Memory> memory_;
};

// Returns the calls that may write a buffer last: from the last one outside subgraphs on.
std::vector<const KernelCall*> FindWriters(const Plan& plan, const Subgraphs& subgraphs, int buffer) {
  std::vector<const KernelCall*> writers;
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    const KernelCall* call = AsKernelCall(plan.lines[i]);
    if (call == nullptr) continue;
    if (std::find(call->outputs.begin(), call->outputs.end(), buffer) == call->outputs.end()) continue;
    if (subgraphs.of_line[i] < 0) writers.clear();
    writers.push_back(call);
  }
  return writers;
}

// Returns the number of valid indices of an update.
int64_t RowCount(const Plan& plan, const Update& update) {
  return plan.buffer(update.target).sizes[static_cast<size_t>(update.dimension)];
}

ir::Tolerance Wider(const ir::Tolerance& a, const ir::Tolerance& b) {
  return {.absolute = std::max(a.absolute, b.absolute), .relative = std::max(a.relative, b.relative)};
}

}  // namespace

std::vector<kernels::DrawRange> InputRanges(const Plan& plan) {
  const std::vector<Place> places = ComputePlaces(plan);
  std::vector<kernels::DrawRange> ranges(plan.buffers.size());
  std::vector<bool> is_known(plan.buffers.size());
  for (const Line& line : plan.lines) {
    if (const std::optional<Update> put = AsUpdate(line)) {
      const auto root = static_cast<size_t>(places[static_cast<size_t>(put->indices)].root);
      if (!is_known[root]) ranges[root] = {.low = 0, .high = static_cast<double>(RowCount(plan, *put))};
      is_known[root] = true;
    }
    if (const auto* condition = std::get_if<If>(&line)) {
      const auto root = static_cast<size_t>(places[static_cast<size_t>(condition->predicate)].root);
      if (!is_known[root]) ranges[root] = {.low = 0, .high = 2};
      is_known[root] = true;
    }
    const KernelCall* call = AsKernelCall(line);
    if (call == nullptr) continue;
    const PlanKernel& kernel = plan.kernel(call->kernel);
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      const auto root = static_cast<size_t>(places[static_cast<size_t>(call->arguments[i])].root);
      if (!is_known[root]) {
        ranges[root] = kernel.source != nullptr ? kernel.source->arguments[i].range
                                                : kernels::ArgumentRange(*kernel.library, i, kernel.problem);
      }
      is_known[root] = true;
    }
  }
  std::vector<kernels::DrawRange> of_inputs;
  for (const int input : plan.inputs) of_inputs.push_back(ranges[static_cast<size_t>(input)]);
  return of_inputs;
}

std::vector<std::vector<double>> DrawInputs(const Plan& plan, absl::Span<const kernels::DrawRange> ranges,
                                            uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlanBuffer& input = plan.buffer(plan.inputs[i]);
    inputs.push_back(kernels::Draw(input.dtype, ranges[i], input.span(), random));
  }
  return inputs;
}

absl::StatusOr<std::vector<std::vector<double>>> EvaluatePlan(const Plan& plan,
                                                              absl::Span<const std::vector<double>> inputs,
                                                              const std::shared_ptr<device::Device>& references) {
  HostValues values(plan, references);
  for (size_t i = 0; i < plan.inputs.size(); ++i) values.Set(plan.inputs[i], inputs[i]);
  const std::vector<size_t> jumps = FindSubgraphs(plan).jumps;
  for (size_t i = 0; i < plan.lines.size();) {
    const Line& line = plan.lines[i];
    if (const auto* put = std::get_if<IndexPut>(&line)) values.Run(*put);
    if (const auto* scatter = std::get_if<Scatter>(&line)) values.Run(*scatter);
    if (const auto* joined = std::get_if<Concatenate>(&line)) values.Run(*joined);
    if (const KernelCall* call = AsKernelCall(line)) RETURN_IF_ERROR(values.Run(*call));
    const auto* condition = std::get_if<If>(&line);
    i = condition != nullptr && values.IsTrue(condition->predicate) ? i + 1 : jumps[i];
  }
  std::vector<std::vector<double>> outputs;
  for (const int output : plan.outputs) outputs.push_back(values.ReadResult(output));
  return outputs;
}

std::vector<ir::Tolerance> OutputTolerances(const Plan& plan, bool coarse_dots) {
  ir::Tolerance usual = ir::ToleranceFor(coarse_dots ? DType::kF16 : DType::kF32);
  for (const PlanBuffer& buffer : plan.buffers) usual = Wider(usual, ir::ToleranceFor(buffer.dtype));
  const std::vector<Place> places = ComputePlaces(plan);
  const Subgraphs subgraphs = FindSubgraphs(plan);
  const bool has_several = std::count_if(plan.lines.begin(), plan.lines.end(), IsCall) > 1;
  std::vector<ir::Tolerance> tolerances;
  for (const int output : plan.outputs) {
    const DType dtype = plan.buffer(output).dtype;
    ir::Tolerance tolerance;
    for (const KernelCall* writer : FindWriters(plan, subgraphs, places[static_cast<size_t>(output)].root)) {
      const PlanKernel& kernel = plan.kernel(writer->kernel);
      tolerance = Wider(tolerance, kernel.source != nullptr
                                       ? kernel.source->tolerance
                                       : kernel.library->tolerance(MakeCallProblem(kernel, *writer), dtype));
    }
    tolerances.push_back(has_several && IsFloat(dtype) ? Wider(tolerance, usual) : tolerance);
  }
  return tolerances;
}

}  // namespace telemetry::worker::wrapper::program
