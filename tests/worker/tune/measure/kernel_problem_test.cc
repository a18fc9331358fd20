#include "worker/tune/measure/kernel_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/tune/measure/measure_fixture.h"
#include "worker/device/open_device.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/kernels/library.h"
#include "worker/runtime/kernel.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::CompiledCode;
using runtime::Kernel;
using testing::HasSubstr;

// A kernel of the library, bound for a problem, with the calls on which it is measured.
struct BoundProblem {
  std::shared_ptr<device::Device> device;
  const kernels::LibraryKernel* library_kernel = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::shared_ptr<runtime::BoundKernel> bound;
  std::vector<ExpectedCall> calls;
  kernels::Problem problem;

  ToleranceFunction Tolerance() const {
    return [this](std::string_view, device::DType dtype) { return library_kernel->tolerance(problem, dtype); };
  }
};

BoundProblem Bind(const std::string& device, const std::string& name, const std::vector<std::string>& arguments,
                  bool static_shapes = true) {
  BoundProblem made;
  made.device = device::OpenDevice(device).value();
  made.library_kernel = kernels::FindKernel(name).value();
  made.problem = kernels::ParseProblem(*made.library_kernel, arguments).value();
  runtime::KernelSpec spec = kernels::MakeKernelSpec(*made.library_kernel);
  spec.settings = runtime::Settings{.static_shapes = static_shapes};
  made.kernel = Kernel::Create(spec).value();
  for (const uint64_t seed : {1, 2}) {
    const kernels::Case c = kernels::MakeCase(*made.library_kernel, made.problem, seed);
    runtime::Arguments on_device = kernels::ArgumentsOn(made.device, *made.library_kernel, c).value();
    made.calls.push_back({.arguments = std::move(on_device), .results = made.library_kernel->reference(c)});
  }
  made.bound = made.kernel->Bind(made.calls[0].arguments).value();
  return made;
}

class KernelProblemTest : public MeasureTest {
 protected:
  void SetUp() override {}

  MeasureRequest DefaultRequest(const BoundProblem& made) {
    const codegen::GeneratedKernel generated = made.bound->Generate(made.bound->config_space().Default()).value();
    const CompiledCode code = made.device->Compile(generated.source).value();
    return MakeRequest(*made.bound, generated, made.calls[0].arguments, std::make_shared<CompiledCode>(code)).value();
  }

  void ExpectMeasured(const BoundProblem& made) {
    Start(MakeProblem(*made.bound, made.calls, made.Tolerance()).value());
    const MeasureRequest request = DefaultRequest(made);
    const wire::Outcome outcome = Measure(request);
    EXPECT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
    const FinalOutcome final = measurer_->MeasureInterleaved({request, request}, {.rounds = 3}).value();
    EXPECT_TRUE(final.outcomes[0].has_perf_ms()) << final.outcomes[0].failure().message();
    EXPECT_TRUE(final.outcomes[1].has_perf_ms());
  }
};

TEST_F(KernelProblemTest, LibraryKernelsAreMeasured) {
  ExpectMeasured(Bind(DeviceName(), "softmax", {"x=33x70:f16"}));
  ExpectMeasured(Bind(DeviceName(), "layer_norm", {"x=16x48:f32"}));
}

TEST_F(KernelProblemTest, CodeForAnySizeGetsSizesAndStrides) {
  ExpectMeasured(Bind(DeviceName(), "add", {"x=33x70:f32"}, /*static_shapes=*/false));
}

TEST_F(KernelProblemTest, ArgumentsHaveTheirNames) {
  const MeasureRequest request = DefaultRequest(Bind(DeviceName(), "rms_norm", {"x=9x40:f32"}, false));
  EXPECT_EQ(request.kernel, "rms_norm");
  ASSERT_EQ(request.argument_labels.size(), request.arguments.size());
  std::vector<std::string> names;
  for (const ArgumentLabel& label : request.argument_labels) {
    names.push_back(label.name);
    EXPECT_EQ(label.is_size, label.name.find('(') != std::string::npos);
    EXPECT_FALSE(label.is_flag);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"x", "weight", "out", "eps", "x.size(0)"}));
}

TEST_F(KernelProblemTest, TheIrsReferenceWillDo) {
  BoundProblem made = Bind(DeviceName(), "softmax", {"x=9x40:f32"});
  for (ExpectedCall& call : made.calls) call.results = EvaluateCall(*made.bound, call.arguments).value();
  ExpectMeasured(made);
}

TEST_F(KernelProblemTest, RefusesCallsThatDiffer) {
  BoundProblem made = Bind(DeviceName(), "add", {"x=8x8:f32"});
  const BoundProblem other = Bind(DeviceName(), "add", {"x=8x16:f32"});
  made.calls[1] = other.calls[0];
  const absl::Status status = MakeProblem(*made.bound, made.calls, made.Tolerance()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("differ"));
  made.calls.pop_back();
  made.calls[0].results.clear();
  EXPECT_THAT(std::string(MakeProblem(*made.bound, made.calls, made.Tolerance()).status().message()),
              HasSubstr("no expected result"));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
