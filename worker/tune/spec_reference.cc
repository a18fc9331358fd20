#include "worker/tune/spec_reference.h"

#include <algorithm>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "proto/base/parallel.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/declared_block.h"
#include "worker/spec/kernel_launch.h"
#include "worker/spec/spec_space.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune {
namespace {

using device::DType;
using record::Cat;
using spec::Argument;
using spec::ElementType;
using spec::Specification;
using spec::Verification;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns true for the arguments that are in device memory.
bool HasBuffer(const Argument& argument) {
  return argument.memory == Argument::Memory::kVector || argument.memory == Argument::Memory::kSymbol;
}

// The element type with which the measuring process checks a vector, and the number of such elements in each of the
// vector's. Types that it does not have are compared as 32-bit or 8-bit pieces, exactly.
struct CheckedAs {
  DType dtype;
  int64_t pieces;
  bool is_exact;
};

CheckedAs CheckedType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return {DType::kF32, 1, false};
    case ElementType::kF16:
      return {DType::kF16, 1, false};
    case ElementType::kBF16:
      return {DType::kBF16, 1, false};
    case ElementType::kI32:
      return {DType::kI32, 1, false};
    case ElementType::kU32:
      return {DType::kI32, 1, true};
    case ElementType::kF64:
      return {DType::kI32, 2, false};
    case ElementType::kI64:
    case ElementType::kU64:
      return {DType::kI32, 2, true};
    case ElementType::kI16:
    case ElementType::kU16:
      return {DType::kBool, 2, true};
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool:
      break;
  }
  return {DType::kBool, 1, true};
}

// Returns the allowed error of a written vector.
ir::Tolerance ToleranceOf(const Specification& spec, size_t index) {
  const Verification& verification = spec.verification;
  if (verification.kind == Verification::Kind::kNone) return ir::Tolerance{.absolute = kInfinity};
  spec::Tolerances tolerances = verification.tolerances;
  if (verification.kind == Verification::Kind::kFiles) {
    const auto found = std::find_if(verification.expected.begin(), verification.expected.end(),
                                    [&](const Verification::Expected& expected) { return expected.argument == index; });
    if (found == verification.expected.end()) return ir::Tolerance{.absolute = kInfinity};
    tolerances = found->tolerances.value_or(tolerances);
  }
  const ElementType type = spec.arguments[index].type.element;
  if (!CheckedType(type).is_exact)
    return ir::Tolerance{.absolute = tolerances.absolute, .relative = tolerances.relative};
  return ir::Tolerance{};
}

measure::ProblemBuffer BufferOf(const Argument& argument, const std::optional<ir::Tolerance>& tolerance) {
  const CheckedAs checked = CheckedType(argument.type.element);
  return {.name = argument.name,
          .dtype = checked.dtype,
          .sizes = {argument.values() * checked.pieces},
          .strides = {1},
          .expected = tolerance,
          .holds_doubles = argument.type.element == ElementType::kF64};
}

// Converts bytes of device memory to the values of a buffer's elements.
std::vector<double> ValuesOf(const Argument& argument, const std::vector<std::byte>& bytes) {
  const CheckedAs checked = CheckedType(argument.type.element);
  ElementType type = argument.type.element;
  // Doubles are compared as such, but stored as halves.
  if (checked.is_exact || type == ElementType::kF64)
    type = checked.dtype == DType::kI32 ? ElementType::kI32 : ElementType::kU8;
  std::vector<double> values(static_cast<size_t>(argument.values() * checked.pieces));
  ForEachPart(values.size(), kElementsPerPart, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) values[i] = spec::NumberAt(bytes, type, i);
  });
  return values;
}

// Returns the problem without expected results, and with tolerances that accept everything.
absl::StatusOr<measure::MeasureProblem> WithoutResults(const Specification& spec, const process::StepReport& on_step) {
  const process::ReportedStep step(on_step, "inputs");
  measure::MeasureProblem problem;
  measure::DataSet set;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const Argument& argument = spec.arguments[i];
    if (!HasBuffer(argument)) continue;
    std::optional<ir::Tolerance> tolerance;
    if (argument.is_written) tolerance = ir::Tolerance{.absolute = kInfinity};
    problem.buffers.push_back(BufferOf(argument, tolerance));
    measure::BufferData data;
    ASSIGN_OR_RETURN(data.initial, spec::InitialBytes(argument, spec.folder));
    set.buffers.push_back(std::move(data));
  }
  problem.data_sets.push_back(std::move(set));
  return problem;
}

// Sets expected results of 0, which the tolerances accept from every config.
void AcceptEverything(measure::MeasureProblem* problem) {
  for (size_t i = 0; i < problem->buffers.size(); ++i) {
    const measure::ProblemBuffer& buffer = problem->buffers[i];
    if (buffer.expected) problem->data_sets[0].buffers[i].expected.resize(static_cast<size_t>(buffer.sizes[0]));
  }
}

// Sets the specification's tolerances.
void SetTolerances(const Specification& spec, measure::MeasureProblem* problem) {
  size_t buffer = 0;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    if (!HasBuffer(spec.arguments[i])) continue;
    if (spec.arguments[i].is_written) problem->buffers[buffer].expected = ToleranceOf(spec, i);
    ++buffer;
  }
}

// Sets the expected results of each vector with contents.
void SetResults(const Specification& spec, const std::vector<std::vector<std::byte>>& contents,
                measure::MeasureProblem* problem) {
  size_t buffer = 0;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const Argument& argument = spec.arguments[i];
    if (!HasBuffer(argument)) continue;
    if (argument.is_written && !contents[buffer].empty()) {
      problem->data_sets[0].buffers[buffer].expected = ValuesOf(argument, contents[buffer]);
    }
    ++buffer;
  }
}

absl::StatusOr<std::vector<std::vector<std::byte>>> ReadExpected(const Specification& spec) {
  std::vector<std::vector<std::byte>> contents;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    if (!HasBuffer(spec.arguments[i])) continue;
    contents.emplace_back();
    for (const Verification::Expected& expected : spec.verification.expected) {
      if (expected.argument != i) continue;
      ASSIGN_OR_RETURN(contents.back(), spec::BytesOf(spec.arguments[i], expected.fill, spec.folder));
    }
  }
  return contents;
}

bool HasReference(const Specification& spec) {
  return spec.verification.kind == Verification::Kind::kReferenceKernel ||
         spec.verification.kind == Verification::Kind::kReferenceConfig;
}

// The source and launch of the reference.
struct Reference {
  std::string source;
  std::string function;
  spec::LaunchSize size;
};

absl::StatusOr<Reference> MakeReference(const Specification& spec) {
  const Verification& verification = spec.verification;
  const bool is_kernel = verification.kind == Verification::Kind::kReferenceKernel;
  ASSIGN_OR_RETURN(const spec::ConfigSource source,
                   spec::ConfigSource::Create(spec, is_kernel ? verification.kernel_file : spec.kernel_file,
                                              is_kernel ? verification.kernel_name : spec.kernel_name));
  Reference reference = {.function = source.function()};
  ASSIGN_OR_RETURN(reference.source, source.For(spec, verification.config));
  const auto declared = spec::DeclaredBlock::Find(
      source.text(), is_kernel ? verification.kernel_name : spec.kernel_name, spec.dialect, spec.names());
  ASSIGN_OR_RETURN(reference.size, spec::KernelLaunch(spec, is_kernel ? verification.launch : spec.launch, declared,
                                                      verification.config));
  return reference;
}

// The reference while it compiles.
struct CompilingReference {
  Reference reference;
  std::future<compile::CompileResult> result;
};

absl::StatusOr<CompilingReference> CompileReference(const SpecKernel& kernel, compile::CompilePool* compilers) {
  CompilingReference compiling;
  ASSIGN_OR_RETURN(compiling.reference, MakeReference(kernel.specification()));
  compiling.result = compilers->SubmitFirst(compile::MakeJob(compiling.reference.source, *kernel.device()));
  return compiling;
}

absl::StatusOr<measure::MeasureRequest> MakeReferenceRequest(const SpecKernel& kernel, CompilingReference compiling) {
  ASSIGN_OR_RETURN(device::CompiledCode code, compiling.result.get().code);
  ASSIGN_OR_RETURN(measure::MeasureRequest request,
                   kernel.MakeRequest(compiling.reference.function, compiling.reference.size,
                                      std::make_shared<const device::CompiledCode>(std::move(code))));
  request.run_limit = absl::Minutes(1);  // a reference may be slow
  return request;
}

absl::Status ReferenceError(const absl::Status& status) {
  return absl::FailedPreconditionError(
      Cat("the reference of the verification failed: ", std::string(status.message())));
}

// Returns the problem with the results of a reference config or kernel, which compiles while the inputs are made.
absl::StatusOr<measure::MeasureProblem> MakeReferenceProblem(const SpecKernel& kernel,
                                                             const process::StepReport& on_step,
                                                             compile::CompilePool* compilers) {
  const Specification& spec = kernel.specification();
  absl::StatusOr<CompilingReference> compiling = CompileReference(kernel, compilers);
  if (!compiling.ok()) return ReferenceError(compiling.status());
  ASSIGN_OR_RETURN(measure::MeasureProblem problem, WithoutResults(spec, on_step));
  SetTolerances(spec, &problem);
  const process::ReportedStep step(on_step, "reference compile");
  absl::StatusOr<measure::MeasureRequest> request = MakeReferenceRequest(kernel, *std::move(compiling));
  if (!request.ok()) return ReferenceError(request.status());
  problem.reference = *std::move(request);
  return problem;
}

std::string GibText(double bytes) { return absl::StrFormat("%.1f GiB", bytes / (1 << 30)); }

}  // namespace

absl::Status CheckMemory(const SpecKernel& kernel) {
  constexpr double kFloatBytes = 4;  // of an expected value on the device and in the problem's image
  // Of an expected value before, as a double and in the contents of a file; those of a reference come as bytes.
  const double read_bytes = HasReference(kernel.specification()) ? 0 : 12;
  constexpr double kHostCopies = 2;  // of initial values: in the problem and in its image
  const device::DeviceProperties& device = kernel.device()->properties();
  const Argument* largest = nullptr;
  double on_device = 0;
  double on_host = 0;
  const auto bytes_of = [](const Argument& argument) {
    return static_cast<double>(argument.values()) * static_cast<double>(spec::SizeOf(argument.type.element));
  };
  for (const Argument& argument : kernel.specification().arguments) {
    if (!HasBuffer(argument)) continue;
    if (largest == nullptr || bytes_of(argument) > bytes_of(*largest)) largest = &argument;
    const double elements =
        argument.is_written ? static_cast<double>(argument.values() * CheckedType(argument.type.element).pieces) : 0;
    on_device += bytes_of(argument) + kFloatBytes * elements;
    on_host += kHostCopies * bytes_of(argument) + (read_bytes + kFloatBytes) * elements;
  }
  const auto refuse = [&](double needed, std::string_view use, double there, std::string_view where) {
    return absl::ResourceExhaustedError(Cat("the vectors need ", GibText(needed), use, ", and ", where, " has ",
                                            GibText(there), ": choose a smaller problem; the largest vector is '",
                                            largest->name, "' with ", GibText(bytes_of(*largest))));
  };
  const auto global = static_cast<double>(device.global_bytes);
  if (global > 0 && on_device > global) return refuse(on_device, " with their expected values", global, device.name);
  const auto available = static_cast<double>(process::AvailableBytes());
  if (on_host <= available) return absl::OkStatus();
  return refuse(on_host, " while their expected values are computed", available, "this machine");
}

absl::StatusOr<measure::MeasureProblem> MakeSpecProblem(const SpecKernel& kernel, const process::StepReport& on_step,
                                                        compile::CompilePool* compilers) {
  const Specification& spec = kernel.specification();
  if (HasReference(spec)) return MakeReferenceProblem(kernel, on_step, compilers);
  ASSIGN_OR_RETURN(measure::MeasureProblem problem, WithoutResults(spec, on_step));
  AcceptEverything(&problem);
  if (spec.verification.kind == Verification::Kind::kNone) return problem;
  ASSIGN_OR_RETURN(const std::vector<std::vector<std::byte>> contents, ReadExpected(spec));
  SetTolerances(spec, &problem);
  SetResults(spec, contents, &problem);
  return problem;
}

}  // namespace telemetry::worker::tune
