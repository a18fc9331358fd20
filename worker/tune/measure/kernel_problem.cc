#include "worker/tune/measure/kernel_problem.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/reference/reference.h"
#include "worker/runtime/call_contract.h"
#include "worker/runtime/launch_arguments.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::DType;
using record::Cat;
using runtime::Arguments;
using runtime::BoundKernel;
using runtime::Leaves;
using runtime::Tensor;

// Returns the indices of the tensors that the kernel stores to.
std::set<int> StoredTensors(const ir::DeviceIr& ir) {
  std::set<int> stored;
  for (const ir::Graph& graph : ir.graphs) {
    for (const ir::Node& node : graph.nodes) {
      if (node.op != ir::Op::kStore || node.args.empty()) continue;
      if (const auto* ref = std::get_if<ir::NodeRef>(&node.args[0].value)) stored.insert(graph.at(*ref).tensor);
    }
  }
  return stored;
}

// Returns dtype, sizes and strides of a tensor of the IR in this call.
Tensor ComputeLayout(const ir::DeviceIr& ir, size_t index, const Leaves& leaves) {
  if (index < leaves.tensors.size()) return *leaves.tensors[index];
  Tensor layout{.dtype = ir.tensors[index].dtype,
                .sizes = runtime::CallContract::ComputeSizes(ir.tensors[index], leaves)};
  layout.strides = runtime::DenseStrides(layout.sizes);
  return layout;
}

ArgumentLabel MakeLabel(const ir::DeviceIr& ir, const codegen::Parameter& parameter, const Leaves& leaves) {
  using Kind = codegen::Parameter::Kind;
  const auto index = static_cast<size_t>(parameter.index);
  if (parameter.kind == Kind::kScalar) {
    return {.name = ir.scalars[index].name, .is_flag = leaves.scalars[index]->As<bool>() != nullptr};
  }
  const std::string& tensor = ir.tensors[index].name;
  if (parameter.kind == Kind::kTensor) return {.name = tensor};
  const std::string_view what = parameter.kind == Kind::kSize ? ".size(" : ".stride(";
  return {.name = Cat(tensor, what, parameter.dimension, ")"), .is_size = true};
}

absl::StatusOr<Leaves> LeavesFor(const BoundKernel& kernel, const Arguments& arguments) {
  if (!kernel.definition().signature.IsComplete(arguments.size())) {
    return absl::InvalidArgumentError(Cat(kernel.name(), "(): a call to measure has ", arguments.size(),
                                          " arguments; Kernel::Normalize fills in defaults"));
  }
  return runtime::CollectLeaves(kernel.definition().signature, arguments);
}

ProblemBuffer BufferFor(const ir::HostTensor& tensor, const Tensor& layout, bool stored,
                        const ToleranceFunction& tolerance) {
  ProblemBuffer buffer = {.name = tensor.name,
                          .dtype = layout.dtype,
                          .sizes = {layout.sizes.begin(), layout.sizes.end()},
                          .strides = {layout.strides.begin(), layout.strides.end()}};
  if (stored) buffer.expected = tolerance(tensor.name, layout.dtype);
  return buffer;
}

// Returns the results' values in the order of the buffer's memory, reordered if they have other strides. Gaps then keep
// their previous values.
absl::StatusOr<std::vector<double>> ExpectedValues(const ProblemBuffer& buffer, const ir::HostArray* before,
                                                   const ExpectedTensors& results) {
  const auto found = results.find(buffer.name);
  if (found == results.end()) {
    return absl::InvalidArgumentError(Cat("no expected result for '", buffer.name, "', which the kernel writes"));
  }
  if (found->second.sizes != buffer.sizes) {
    return absl::InvalidArgumentError(Cat("the expected result for '", buffer.name, "' has other sizes"));
  }
  if (found->second.strides == buffer.strides) return found->second.data;
  ir::HostArray placed =
      before != nullptr ? *before : ir::HostArray::Strided(DType::kF32, buffer.sizes, buffer.strides);
  placed.dtype = IsFloat(buffer.dtype) ? DType::kF32 : DType::kI32;
  placed.SetRowMajor(found->second.RowMajor());
  return placed.data;
}

// Returns the elements of one tensor.
std::vector<ExpectedElement> SampleOf(size_t tensor, const std::vector<ir::reference::StoredElement>& sample) {
  const auto is_of_it = [tensor](const auto& element) { return static_cast<size_t>(element.tensor) == tensor; };
  std::vector<ExpectedElement> elements;
  elements.reserve(static_cast<size_t>(std::count_if(sample.begin(), sample.end(), is_of_it)));
  for (const ir::reference::StoredElement& element : sample) {
    if (!is_of_it(element)) continue;
    elements.push_back({.place = static_cast<uint32_t>(element.offset), .value = element.value});
  }
  return elements;
}

absl::StatusOr<BufferData> DataFor(const ProblemBuffer& buffer, const Tensor* argument, const ExpectedCall& call) {
  BufferData data;
  if (argument != nullptr) {
    ASSIGN_OR_RETURN(data.initial, BytesOf(*argument));
  }
  if (!buffer.expected.has_value() || call.has_baseline) return data;
  std::optional<ir::HostArray> before;
  if (argument != nullptr) {
    ASSIGN_OR_RETURN(before, ToHost(*argument));
  }
  ASSIGN_OR_RETURN(std::vector<double> expected,
                   ExpectedValues(buffer, before.has_value() ? &*before : nullptr, call.results));
  data.expected = std::move(expected);
  return data;
}

absl::StatusOr<DataSet> DataSetFor(const std::vector<ProblemBuffer>& buffers, const Leaves& leaves,
                                   const ExpectedCall& call) {
  DataSet set;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Tensor* argument = i < leaves.tensors.size() ? leaves.tensors[i] : nullptr;
    const bool differs = argument != nullptr && (!std::equal(argument->sizes.begin(), argument->sizes.end(),
                                                             buffers[i].sizes.begin(), buffers[i].sizes.end()) ||
                                                 !std::equal(argument->strides.begin(), argument->strides.end(),
                                                             buffers[i].strides.begin(), buffers[i].strides.end()));
    if (differs) {
      return absl::InvalidArgumentError(
          Cat("the calls to measure differ in the sizes or strides of '", buffers[i].name, "'"));
    }
    ASSIGN_OR_RETURN(BufferData data, DataFor(buffers[i], argument, call));
    set.buffers.push_back(std::move(data));
  }
  return set;
}

enum class HostValues { kCopy, kTake };

absl::StatusOr<ReferenceCall> ReferenceCallOf(const BoundKernel& kernel, const Arguments& arguments,
                                              HostValues host_values) {
  ASSIGN_OR_RETURN(const Leaves leaves, LeavesFor(kernel, arguments));
  ReferenceCall call;
  for (const Tensor* tensor : leaves.tensors) {
    if (host_values == HostValues::kTake && tensor->host != nullptr && tensor->host.use_count() == 1) {
      call.tensors.push_back(std::move(*tensor->host));
      continue;
    }
    ASSIGN_OR_RETURN(ir::HostArray array, ToHost(*tensor));
    call.tensors.push_back(std::move(array));
  }
  const std::vector<ir::ScalarParameter>& scalars = kernel.ir().scalars;
  for (size_t i = 0; i < leaves.scalars.size(); ++i) {
    call.options.scalars[scalars[i].name] = leaves.scalars[i]->number();
  }
  return call;
}

}  // namespace

absl::StatusOr<ReferenceCall> MakeReferenceCall(const BoundKernel& kernel, const Arguments& arguments) {
  return ReferenceCallOf(kernel, arguments, HostValues::kCopy);
}

absl::StatusOr<ReferenceCall> TakeReferenceCall(const BoundKernel& kernel, const Arguments& arguments) {
  return ReferenceCallOf(kernel, arguments, HostValues::kTake);
}

absl::StatusOr<ExpectedTensors> EvaluateCall(const BoundKernel& kernel, const Arguments& arguments) {
  ASSIGN_OR_RETURN(ReferenceCall call, MakeReferenceCall(kernel, arguments));
  const ir::DeviceIr& ir = kernel.ir();
  RETURN_IF_ERROR(ir::reference::Evaluate(ir, call.options, &call.tensors));
  ExpectedTensors results;
  for (const int index : StoredTensors(ir)) {
    const auto i = static_cast<size_t>(index);
    results.emplace(ir.tensors[i].name, std::move(call.tensors[i]));
  }
  return results;
}

absl::StatusOr<MeasureProblem> MakeProblem(const BoundKernel& kernel, absl::Span<const ExpectedCall> calls,
                                           const ToleranceFunction& tolerance) {
  MeasureProblem problem;
  const ir::DeviceIr& ir = kernel.ir();
  const std::set<int> stored = StoredTensors(ir);
  for (const ExpectedCall& call : calls) {
    ASSIGN_OR_RETURN(const Leaves leaves, LeavesFor(kernel, call.arguments));
    for (size_t i = problem.buffers.size(); i < ir.tensors.size(); ++i) {
      const bool is_stored = stored.count(static_cast<int>(i)) > 0;
      problem.buffers.push_back(BufferFor(ir.tensors[i], ComputeLayout(ir, i, leaves), is_stored, tolerance));
    }
    ASSIGN_OR_RETURN(DataSet set, DataSetFor(problem.buffers, leaves, call));
    problem.data_sets.push_back(std::move(set));
  }
  return problem;
}

absl::StatusOr<DataSet> MakeDataSet(const BoundKernel& kernel, const MeasureProblem& problem,
                                    const ExpectedCall& call) {
  ASSIGN_OR_RETURN(const Leaves leaves, LeavesFor(kernel, call.arguments));
  return DataSetFor(problem.buffers, leaves, call);
}

void AddSample(const std::vector<ir::reference::StoredElement>& sample, DataSet* set) {
  for (size_t i = 0; i < set->buffers.size(); ++i) set->buffers[i].sample = SampleOf(i, sample);
}

absl::StatusOr<MeasureRequest> MakeRequest(const BoundKernel& kernel, const codegen::GeneratedKernel& generated,
                                           const Arguments& arguments,
                                           std::shared_ptr<const device::CompiledCode> code) {
  ASSIGN_OR_RETURN(const Leaves leaves, LeavesFor(kernel, arguments));
  std::vector<Tensor> outputs;
  for (size_t i = leaves.tensors.size(); i < kernel.ir().tensors.size(); ++i) {
    outputs.push_back(ComputeLayout(kernel.ir(), i, leaves));
  }
  runtime::LaunchArguments values;
  runtime::BuildLaunchArguments(generated, leaves, outputs, &values);
  MeasureRequest request = {.code = std::move(code), .function = generated.function, .kernel = kernel.name()};
  for (size_t i = 0; i < values.size(); ++i) {
    request.argument_labels.push_back(MakeLabel(kernel.ir(), generated.parameters[i], leaves));
    RequestArgument argument = BufferIndex{generated.parameters[i].index};
    if (const auto* value = std::get_if<int32_t>(&values[i])) argument = *value;
    if (const auto* value = std::get_if<int64_t>(&values[i])) argument = *value;
    if (const auto* value = std::get_if<float>(&values[i])) argument = *value;
    request.arguments.push_back(argument);
  }
  std::vector<ir::HostTensor> sized = kernel.ir().tensors;
  runtime::SetSizes(leaves, &sized);
  request.shape = {
      .grid = generated.GridSize(sized), .threads = generated.threads, .shared_bytes = generated.shared_bytes};
  return request;
}

}  // namespace telemetry::worker::tune::measure
