#include "tests/bench/bench_measure/repeated_measuring.h"

#include <chrono>
#include <utility>

#include "worker/kernels/draw.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"
#include "worker/tune/measure/kernel_problem.h"

namespace telemetry::bench {
namespace {

namespace kernels = worker::kernels;
namespace measure = worker::tune::measure;
using worker::device::DType;

constexpr uint64_t kSeed = 3;

constexpr char kIllegalCuda[] = R"(
extern "C" __global__ void illegal(char* x) { x[1ll << 46] = 1; })";
constexpr char kIllegalOpenCl[] = R"(
__kernel void illegal(__global char* x) { x[1l << 46] = 1; })";

absl::StatusOr<measure::MeasureRequest> RequestFor(const worker::runtime::BoundKernel& bound,
                                                   const BenchCase& bench_case,
                                                   const worker::runtime::Arguments& arguments) {
  absl::StatusOr<worker::codegen::Config> config = worker::codegen::Config::Parse(bench_case.config);
  if (!config.ok()) return config.status();
  absl::StatusOr<worker::codegen::GeneratedKernel> generated = bound.Generate(*config);
  if (!generated.ok()) return generated.status();
  absl::StatusOr<worker::device::CompiledCode> code = bound.device()->Compile(generated->source);
  if (!code.ok()) return code.status();
  return measure::MakeRequest(bound, *generated, arguments,
                              std::make_shared<worker::device::CompiledCode>(*std::move(code)));
}

}  // namespace

absl::StatusOr<RepeatedMeasuring> RepeatedMeasuring::Start(const std::shared_ptr<worker::device::Device>& device,
                                                           const BenchCase& bench_case) {
  absl::StatusOr<const kernels::LibraryKernel*> library_kernel = kernels::FindKernel(bench_case.kernel);
  if (!library_kernel.ok()) return library_kernel.status();
  absl::StatusOr<kernels::Problem> problem = kernels::ParseProblem(**library_kernel, bench_case.arguments);
  if (!problem.ok()) return problem.status();
  const kernels::Case made = kernels::MakeCase(**library_kernel, *problem, kSeed);
  absl::StatusOr<std::unique_ptr<worker::runtime::Kernel>> kernel =
      worker::runtime::Kernel::Create(kernels::MakeKernelSpec(**library_kernel));
  if (!kernel.ok()) return kernel.status();
  absl::StatusOr<worker::runtime::Arguments> arguments = kernels::ArgumentsOn(device, **library_kernel, made);
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<std::shared_ptr<worker::runtime::BoundKernel>> bound = (*kernel)->Bind(*arguments);
  if (!bound.ok()) return bound.status();
  absl::StatusOr<measure::MeasureRequest> request = RequestFor(**bound, bench_case, *arguments);
  if (!request.ok()) return request.status();

  const measure::ExpectedCall call = {.arguments = *std::move(arguments),
                                      .results = (*library_kernel)->reference(made)};
  const auto tolerance = [&](std::string_view, DType dtype) { return (*library_kernel)->tolerance(*problem, dtype); };
  absl::StatusOr<measure::MeasureProblem> measured = measure::MakeProblem(**bound, {call}, tolerance);
  if (!measured.ok()) return measured.status();
  absl::StatusOr<std::unique_ptr<measure::Measurer>> measurer =
      measure::Measurer::Start(*measured, {.device = device->id()});
  if (!measurer.ok()) return measurer.status();
  return RepeatedMeasuring(device, *std::move(request), *std::move(measurer));
}

absl::StatusOr<RepeatedMeasuring::Repetition> RepeatedMeasuring::Measure(const measure::MeasureRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<measure::wire::Outcome> outcome = measurer_->Measure(request);
  if (!outcome.ok()) return outcome.status();
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  return Repetition{.wall_ms = wall.count(), .outcome = *std::move(outcome)};
}

absl::StatusOr<std::vector<RepeatedMeasuring::Repetition>> RepeatedMeasuring::Repeat(int times) {
  std::vector<Repetition> repetitions;
  for (int i = 0; i < times; ++i) {
    absl::StatusOr<Repetition> repetition = Measure(request_);
    if (!repetition.ok()) return repetition.status();
    repetitions.push_back(*std::move(repetition));
  }
  return repetitions;
}

absl::StatusOr<measure::FinalOutcome> RepeatedMeasuring::FinalAgainstItself(int rounds) {
  return measurer_->MeasureInterleaved({request_, request_}, {.rounds = rounds});
}

absl::StatusOr<std::vector<RepeatedMeasuring::Repetition>> RepeatedMeasuring::AfterAnIllegalAccess() {
  const bool is_cuda = device_->properties().dialect == worker::device::Dialect::kCuda;
  absl::StatusOr<worker::device::CompiledCode> code = device_->Compile(is_cuda ? kIllegalCuda : kIllegalOpenCl);
  if (!code.ok()) return code.status();
  measure::MeasureRequest illegal = {.code = std::make_shared<worker::device::CompiledCode>(*std::move(code)),
                                     .function = "illegal",
                                     .arguments = {measure::BufferIndex{0}}};
  std::vector<Repetition> repetitions;
  for (const measure::MeasureRequest* request : {&illegal, &request_}) {
    absl::StatusOr<Repetition> repetition = Measure(*request);
    if (!repetition.ok()) return repetition.status();
    repetitions.push_back(*std::move(repetition));
  }
  return repetitions;
}

}  // namespace telemetry::bench
