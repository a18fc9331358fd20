// Tests plans that call kernels of T1 specifications. Uses opencl:0.

#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/device/open_device.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/plan_builder.h"
#include "worker/wrapper/run_plan.h"
#include "worker/wrapper/verify_plan.h"
#include "worker/wrapper/wrapper_graph.h"

namespace telemetry::worker::wrapper::file {
namespace {

using codegen::Config;
using device::DType;
using runtime::Tensor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string TestsFolder() { return TestdataDir() + "/../worker/"; }
std::string StepsPath() { return TestsFolder() + "wrapper/source/steps.json"; }
std::string SpecPath(const std::string& name) { return TestsFolder() + "spec/kernels/" + name + ".json"; }
std::string RelaxPath() { return TestsFolder() + "wrapper/source/relax.opencl.json"; }

std::shared_ptr<const SourceKernel> KernelOf(const std::string& path, const ConfigChoice& choice = {}) {
  auto kernel = ReadSpecKernel(path, choice, nullptr);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.value_or(nullptr);
}

std::vector<Tensor> InputsOf(const Plan& plan, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const int id : plan.inputs) {
    const PlanBuffer& input = plan.buffer(id);
    const kernels::DrawRange range =
        input.dtype == DType::kF32 ? kernels::DrawRange{-50, 50} : kernels::DrawRange{0, 2};
    inputs.push_back(Tensor::OnHost({.dtype = input.dtype,
                                     .sizes = input.sizes,
                                     .strides = input.strides,
                                     .data = kernels::Draw(input.dtype, range, input.span(), random)}));
  }
  return inputs;
}

// Runs a plan, on the host if `device` is null, and returns the values of its outputs.
std::vector<std::vector<double>> OutputsOf(const Plan& plan, const std::shared_ptr<device::Device>& device,
                                           uint64_t seed, const std::shared_ptr<device::Device>& references = nullptr) {
  const auto runner = PlanRunner::Create(plan, device, nullptr, references);
  EXPECT_TRUE(runner.ok()) << runner.status();
  if (!runner.ok()) return {};
  std::vector<Tensor> inputs = InputsOf(plan, seed);
  for (Tensor& input : inputs) {
    if (device != nullptr) input = *runtime::ToDevice(device, *input.host);
  }
  const auto outputs = (*runner)->Run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<std::vector<double>> values;
  if (!outputs.ok()) return {};
  for (const Tensor& output : *outputs) values.push_back(runtime::ToHost(output)->RowMajor());
  return values;
}

class SourcePlanTest : public ::testing::Test {
 protected:
  const std::shared_ptr<device::Device> device_ = *device::OpenDevice("opencl:0");
};

TEST_F(SourcePlanTest, TheTextNamesTheSpecificationAndTheConfig) {
  const absl::StatusOr<Plan> plan = ReadPlan(StepsPath());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::string text = plan->DebugString();
  EXPECT_THAT(text, HasSubstr("define hotspot: hotspot now=70x150:f32 power=70x150:f32 of "));
  EXPECT_THAT(
      text,
      HasSubstr("hotspot.opencl.json Config(block_size_x=32, block_size_y=4, points_per_thread=2, use_shared=1)\n"));
  // The default config, for tensors of other shapes.
  EXPECT_THAT(text, HasSubstr("define hotspot_1: hotspot now=10500:f32 power=70x150:f32 of "));
  EXPECT_THAT(text, HasSubstr("call hotspot(now=now, power=power) -> next=first\n"));
  EXPECT_THAT(text, HasSubstr("call relax(weights=power) -> values=first\n"));
}

// The interpreter runs the references: other configs than those of the plan.
TEST_F(SourcePlanTest, RunsAndTheInterpreterAgreeWithAndWithoutMemoryPlanning) {
  const Plan plan = *ReadPlan(StepsPath());
  const absl::StatusOr<MemoryPlan> planned = PlanMemory(plan);
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_LT(planned->peak_bytes_after, planned->peak_bytes_before);
  EXPECT_THAT(planned->plan.DebugString(), HasSubstr("reuse first as shares f32[70, 150]\n"));
  std::set<double> predicates;
  for (uint64_t seed = 1; predicates.size() < 2; ++seed) {
    if (!predicates.insert(InputsOf(plan, seed)[2].host->data[0]).second) continue;
    const auto outputs = OutputsOf(plan, device_, seed);
    EXPECT_EQ(OutputsOf(planned->plan, device_, seed), outputs);
    const auto expected = OutputsOf(planned->plan, nullptr, seed, device_);
    ASSERT_EQ(expected.size(), 1u);
    for (size_t i = 0; i < expected[0].size(); ++i) ASSERT_NEAR(outputs[0][i], expected[0][i], 1e-4) << i;
  }
}

// Kernels that change a buffer see what earlier lines wrote, in the order of the lines.
TEST_F(SourcePlanTest, ArgumentsChangeInPlace) {
  PlanBuilder b("in place");
  const BufferRef x = b.Input("x", DType::kF32, {10500});
  const BufferRef values = b.Call("exp", {b.View(x, {70, 150}, {150, 1}, 0)}, {.names = {"values"}})[0];
  for (int i = 0; i < 3; ++i) b.CallSource(KernelOf(RelaxPath()), {x}, {.into = {values}});
  b.Output(values);
  const absl::StatusOr<Plan> plan = b.Finish();
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernels.size(), 4u) << "each reading gives a kernel of its own";
  const std::vector<double> x_values = InputsOf(*plan, 1)[0].host->data;
  const std::vector<double> found = OutputsOf(PlanMemory(*plan)->plan, device_, 1)[0];
  for (const size_t i : {0, 99, 100, 10499}) {
    const double added = i < 100 ? 0 : 3 * 0.1 * x_values[i];
    EXPECT_NEAR(found[i], std::exp(x_values[i]) + added, 1e-5 * std::exp(x_values[i]) + 1e-5) << i;
  }
}

// Integers are equal bits with every config.
TEST_F(SourcePlanTest, EveryConfigHasTheSameResults) {
  std::vector<std::vector<std::vector<double>>> found;
  for (const char* config :
       {"Config()", "Config(method=1, points_per_thread=4)", "Config(method=2, block_size_x=64)"}) {
    PlanBuilder b("polygon");
    const BufferRef points = b.Input("points", DType::kI32, {2000, 2});
    const BufferRef corners = b.Input("corners", DType::kI32, {60, 2});
    b.Output(
        b.CallSource(KernelOf(SpecPath("pnpoly.opencl"), {.given = *Config::Parse(config)}), {points, corners})[0]);
    const absl::StatusOr<Plan> plan = b.Finish();
    ASSERT_TRUE(plan.ok()) << plan.status();
    found.push_back(OutputsOf(*plan, device_, 5));
    EXPECT_EQ(OutputsOf(*plan, nullptr, 5, device_), found.back());
  }
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[0]);
}

TEST_F(SourcePlanTest, TheBestConfigIsAskedForOnce) {
  const TempFolder folder;
  const std::string path = folder.path() + "/plan.json";
  std::ofstream(path) << R"({"name": "p", "inputs": [{"name": "points", "dtype": "i32", "sizes": [4000]},
    {"name": "corners", "dtype": "i32", "sizes": [120]}], "lines": [
    {"spec": ")" << SpecPath("pnpoly.opencl")
                      << R"(", "arguments": ["points", "corners"], "outputs": ["a"], "config": "best"},
    {"spec": ")" << SpecPath("pnpoly.opencl")
                      << R"(", "arguments": ["points", "corners"], "outputs": ["b"], "config": "best"}],
    "outputs": ["a", "b"]})";
  int asked = 0;
  std::optional<Config> best = *Config::Parse("Config(method=2)");
  const auto find = [&](const auto& spec) -> absl::StatusOr<std::optional<Config>> {
    EXPECT_EQ(spec->kernel_name, "pnpoly");
    ++asked;
    return best;
  };
  EXPECT_THAT(ReadPlan(path, {}, find)->DebugString(), HasSubstr("method=2"));
  EXPECT_EQ(asked, 1);
  best = std::nullopt;  // none is known
  EXPECT_THAT(ReadPlan(path, {}, find)->DebugString(), HasSubstr("method=0"));
  EXPECT_THAT(ReadPlan(path)->DebugString(), HasSubstr("method=0"));
}

TEST_F(SourcePlanTest, TheGraphHasTheOrderOfChangesInPlace) {
  const v1::IrGraph graph = WrapperGraph(*ReadPlan(StepsPath()), "opencl:0");
  std::vector<std::string> edges;
  for (const v1::IrEdge& edge : graph.edges()) {
    edges.push_back(absl::StrCat(edge.source(), " ", edge.target(), " ", edge.edge_kind()));
  }
  // The first relax reads what the first hotspot wrote.
  const auto named = [&](const std::string& part) {
    for (const v1::IrNode& node : graph.nodes()) {
      if (absl::StrContains(node.id(), part)) return node.id();
    }
    return std::string();
  };
  EXPECT_THAT(edges, ::testing::Contains(absl::StrCat(named(":hotspot"), " ", named(":relax"), " data")));
}

TEST_F(SourcePlanTest, MistakesAreRefused) {
  const std::shared_ptr<const SourceKernel> hotspot = KernelOf(SpecPath("hotspot.opencl"));
  const std::shared_ptr<const SourceKernel> relax = KernelOf(RelaxPath());
  const auto message_of = [](PlanBuilder& b) { return std::string(b.status().message()); };
  {
    PlanBuilder b("p");
    b.CallSource(hotspot, {b.Input("x", DType::kF32, {10500})});
    EXPECT_THAT(message_of(b), HasSubstr("kernel 'hotspot' reads 2 tensors, but 1 buffers are given"));
  }
  {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {70, 150}, {1, 70});
    b.CallSource(hotspot, {x, x});
    EXPECT_THAT(message_of(b),
                HasSubstr("kernel 'hotspot', argument 'now': buffer 'x' is f32[70, 150] strides [1, 70], "
                          "but 'now' has 10500 elements of f32, dense"));
  }
  {
    PlanBuilder b("p");
    b.CallSource(relax, {b.Input("x", DType::kF32, {10500})});
    EXPECT_THAT(message_of(b), HasSubstr("output 'values': the kernel reads it, too; pass the buffers to change"));
  }
  {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {10500});
    b.CallSource(relax, {x}, {.into = {x}});
    EXPECT_THAT(message_of(b), HasSubstr("buffer 'x' is an input, which is only read"));
  }
  {
    PlanBuilder b("p");
    const BufferRef x = b.Input("x", DType::kF32, {10500});
    b.CallSource(hotspot, {x, x}, {.config = Config()});
    EXPECT_THAT(message_of(b), HasSubstr("its source has the numbers and the config"));
  }
  Plan plan = *ReadPlan(StepsPath());
  for (Line& line : plan.lines) {
    if (auto* call = std::get_if<CallKernel>(&line)) line = CallExtern{call->call};
  }
  EXPECT_THAT(std::string(VerifyPlan(plan).message()),
              HasSubstr("is given as source and cannot be called as an external"));
  EXPECT_THAT(std::string(PlanRunner::Create(*ReadPlan(StepsPath()), nullptr).status().message()),
              HasSubstr("kernel 'hotspot' is given as source, which only a device that compiles OpenCL can run"));
}

TEST_F(SourcePlanTest, ErrorsOfFilesNameTheLineAndTheSpecification) {
  const TempFolder folder;
  const auto message_of = [&](const std::string& spec, const std::string& config) {
    const std::string path = folder.path() + "/plan.json";
    std::ofstream(path) << R"({"name": "p", "inputs": [], "lines": [{"spec": ")" << spec
                        << R"(", "arguments": [], "outputs": ["a"], "config": ")" << config
                        << R"("}], "outputs": ["a"]})";
    const absl::StatusOr<Plan> plan = ReadPlan(path);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(plan.status().message());
  };
  EXPECT_THAT(message_of("absent.json", "best"),
              AllOf(HasSubstr("plan.json: lines[0].spec: "), HasSubstr(folder.path() + "/absent.json")));
  EXPECT_THAT(message_of(SpecPath("hotspot.opencl"), "Config(block_size_x=7)"),
              AllOf(HasSubstr("lines[0].spec: "), HasSubstr("hotspot.opencl.json: "), HasSubstr("block_size_x")));
  EXPECT_THAT(message_of(SpecPath("hotspot.opencl"), "fast"), HasSubstr("lines[0].config: "));
  EXPECT_THAT(message_of(SpecPath("expdist.opencl"), "Config()"),
              HasSubstr("argument 'sums': plans have no tensors of f64"));
  EXPECT_THAT(message_of(SpecPath("convolution.cuda"), "Config()"),
              HasSubstr("plans cannot set variables of the source"));
  const absl::StatusOr<Plan> without_file =
      ParsePlan(R"({"name": "p", "lines": [{"spec": "a.json", "arguments": [], "outputs": ["a"]}], "outputs": ["a"]})");
  EXPECT_THAT(std::string(without_file.status().message()),
              HasSubstr("lines[0].spec: specifications are read only for plans that are files"));
}

TEST_F(SourcePlanTest, ADeviceOfAnotherLanguageIsRefused) {
  const std::shared_ptr<const SourceKernel> kernel = KernelOf(SpecPath("hotspot.cuda"));
  PlanBuilder b("cuda");
  std::vector<BufferRef> arguments;
  for (const SourceTensor& tensor : kernel->arguments)
    arguments.push_back(b.Input(tensor.name, tensor.dtype, {tensor.elements}));
  b.Output(b.CallSource(kernel, arguments)[0]);
  const absl::StatusOr<Plan> plan = b.Finish();
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::Status refused = PlanRunner::Create(*plan, device_).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("kernel 'hotspot' is written in CUDA, but opencl:0 compiles OpenCL"));
}

}  // namespace
}  // namespace telemetry::worker::wrapper::file
