#include "worker/tune/baseline.h"

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/reference/reference.h"
#include "worker/tune/grid_sample.h"

namespace telemetry::worker::tune {
namespace {

using codegen::GeneratedKernel;
using ir::reference::GridPoint;
using measure::ExpectedCall;
using measure::MeasureProblem;
using measure::MeasureRequest;
using measure::ReferenceCall;
using record::Cat;
using runtime::Arguments;
using runtime::BoundKernel;

// The block of loops in the reference: large, because the blocks of the grid are small.
constexpr int64_t kLoopBlock = 256;
// The work of the sample of one call, for each thread: about a tenth of a second. The first results wait for it, and
// the compilers get few processors meanwhile.
constexpr double kSampleWorkPerThread = 2e7;
constexpr size_t kLeastPoints = 32;
constexpr size_t kMostElements = size_t{1} << 20;  // of the sample of one call
constexpr absl::Duration kBaselineLimit = absl::Minutes(1);

int ThreadCount() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

// Code whose results may be the expected ones.
struct Baseline {
  std::string label;
  GeneratedKernel generated;
  std::future<compile::CompileResult> compiled;
};

std::vector<Baseline> CompileBaselines(const BoundKernel& kernel, compile::CompilePool* compilers) {
  const codegen::Config config = kernel.config_space().Default();
  std::vector<Baseline> baselines;
  const auto add = [&](const char* label, absl::StatusOr<GeneratedKernel> generated) {
    if (!generated.ok()) return;
    std::future<compile::CompileResult> compiled =
        compilers->SubmitFirst(compile::MakeJob(generated->source, *kernel.device()));
    baselines.push_back({.label = label, .generated = *std::move(generated), .compiled = std::move(compiled)});
  };
  add("plain code of the default config", kernel.GeneratePlain(config));
  add("the default config", kernel.Generate(config));
  return baselines;
}

// Returns the requests of the baselines that compile. Returns the last error of the compiler if there are none.
absl::StatusOr<std::vector<MeasureRequest>> MakeRequests(const BoundKernel& kernel, const Arguments& arguments,
                                                         std::vector<Baseline> baselines) {
  std::vector<MeasureRequest> requests;
  absl::Status error = absl::InternalError(Cat("no code for a baseline of ", kernel.name()));
  for (Baseline& baseline : baselines) {
    absl::StatusOr<device::CompiledCode> code = baseline.compiled.get().code;
    if (!code.ok()) {
      error = code.status();
      continue;
    }
    ASSIGN_OR_RETURN(MeasureRequest request,
                     measure::MakeRequest(kernel, baseline.generated, arguments,
                                          std::make_shared<const device::CompiledCode>(*std::move(code))));
    request.label = baseline.label;
    request.run_limit = kBaselineLimit;
    requests.push_back(std::move(request));
  }
  if (requests.empty()) return error;
  return requests;
}

// Returns the grid with the blocks of this code.
SampledGrid GridOf(const GeneratedKernel& generated, std::vector<int64_t> extents) {
  SampledGrid grid = {.extents = std::move(extents)};
  for (const GeneratedKernel::GridAxis& axis : generated.grid) grid.blocks.push_back(axis.block);
  grid.blocks.resize(grid.extents.size(), 1);
  return grid;
}

bool IsEmpty(const std::vector<int64_t>& extents) {
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

absl::Status AddSampleOf(const BoundKernel& kernel, const std::vector<GridPoint>& points, ReferenceCall* call,
                         measure::DataSet* set) {
  call->options.default_block = kLoopBlock;
  const size_t most_elements = std::max<size_t>(2, kMostElements / points.size());
  ASSIGN_OR_RETURN(
      const std::vector<ir::reference::StoredElement> sample,
      ir::reference::EvaluateAt(kernel.ir(), call->options, points,
                                {.threads = ThreadCount(), .most_elements = most_elements}, &call->tensors));
  measure::AddSample(sample, set);
  return absl::OkStatus();
}

absl::StatusOr<measure::DataSet> MakeLast(const BoundKernel& kernel, const MeasureProblem& problem,
                                          const std::vector<GridPoint>& points, const ExpectedCall& expected) {
  ASSIGN_OR_RETURN(measure::DataSet set, measure::MakeDataSet(kernel, problem, expected));
  ASSIGN_OR_RETURN(ReferenceCall call, measure::TakeReferenceCall(kernel, expected.arguments));
  RETURN_IF_ERROR(AddSampleOf(kernel, points, &call, &set));
  return set;
}

}  // namespace

double MostHostWork() { return 2e8 / std::max(1, ThreadCount() / 2); }

absl::StatusOr<std::optional<MeasureProblem>> MakeBaselineProblem(const BoundKernel& kernel,
                                                                  std::vector<Arguments> calls,
                                                                  const measure::ToleranceFunction& tolerance,
                                                                  const BaselineOptions& options,
                                                                  compile::CompilePool* compilers) {
  std::vector<ExpectedCall> expected;
  for (Arguments& arguments : calls) expected.push_back({.arguments = std::move(arguments), .has_baseline = true});
  std::optional<process::ReportedStep> step(std::in_place, options.on_step, "input bytes");
  ASSIGN_OR_RETURN(MeasureProblem problem, measure::MakeProblem(kernel, expected, tolerance));
  step.emplace(options.on_step, "reference sample");
  ASSIGN_OR_RETURN(ReferenceCall first, measure::TakeReferenceCall(kernel, expected[0].arguments));
  first.options.default_block = kLoopBlock;
  const absl::StatusOr<double> work = ir::reference::WorkOfPoint(kernel.ir(), first.options, &first.tensors);
  if (absl::IsFailedPrecondition(work.status())) return std::nullopt;
  RETURN_IF_ERROR(work.status());
  const std::vector<int64_t> extents = ir::reference::GridExtents(kernel.ir(), first.tensors);
  double total = *work;
  for (const int64_t extent : extents) total *= static_cast<double>(extent);
  if (total <= options.most_host_work || IsEmpty(extents)) return std::nullopt;

  std::vector<Baseline> baselines = CompileBaselines(kernel, compilers);
  if (baselines.empty()) return std::nullopt;
  const auto affordable = static_cast<size_t>(kSampleWorkPerThread * ThreadCount() / std::max(1.0, *work));
  const std::vector<GridPoint> points =
      ChoosePoints(GridOf(baselines[0].generated, extents), std::max(kLeastPoints, affordable), options.seed);
  RETURN_IF_ERROR(AddSampleOf(kernel, points, &first, &problem.data_sets[0]));
  first = ReferenceCall();
  step.emplace(options.on_step, "other sample");
  for (size_t i = 1; i < expected.size(); ++i) {
    ASSIGN_OR_RETURN(ReferenceCall call, measure::TakeReferenceCall(kernel, expected[i].arguments));
    RETURN_IF_ERROR(AddSampleOf(kernel, points, &call, &problem.data_sets[i]));
  }
  if (options.last) {
    problem.last = std::async(std::launch::async, [&kernel, buffers = problem.buffers, points, last = options.last] {
                     return MakeLast(kernel, {.buffers = buffers}, points, {.arguments = last(), .has_baseline = true});
                   }).share();
  }
  step.emplace(options.on_step, "baseline code");
  ASSIGN_OR_RETURN(problem.baselines, MakeRequests(kernel, expected[0].arguments, std::move(baselines)));
  return problem;
}

}  // namespace telemetry::worker::tune
