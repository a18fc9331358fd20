#include "tests/worker/tune/measure/measure_fixture.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "worker/device/open_device.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::CompiledCode;

constexpr char kCudaWords[] = R"(
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define INDEX ((int)(blockIdx.x * blockDim.x + threadIdx.x))
)";

constexpr char kOpenClWords[] = R"(
#define KERNEL __kernel void
#define GLOBAL __global
#define INDEX ((int)get_global_id(0))
)";

// A busy machine or a sanitizer may delay a kernel, but only a kernel that hangs needs as long as this.
constexpr absl::Duration kPatience = absl::Minutes(10);

DataSet Doubling(float first, float step, int count) {
  std::vector<float> values;
  std::vector<double> doubled;
  for (int i = 0; i < count; ++i) {
    values.push_back(first + step * static_cast<float>(i));
    doubled.push_back(2.0 * static_cast<double>(values.back()));
  }
  DataSet set;
  set.buffers.resize(2);
  set.buffers[0].initial.resize(values.size() * sizeof(float));
  std::memcpy(set.buffers[0].initial.data(), values.data(), set.buffers[0].initial.size());
  set.buffers[1].expected = std::move(doubled);
  return set;
}

}  // namespace

std::string MeasureTest::DeviceName() {
  const char* id = std::getenv("TELEMETRY_TEST_DEVICE");
  return id == nullptr ? "opencl:0" : id;
}

BufferData MeasureTest::Numbers(const std::vector<float>& values) {
  BufferData data;
  data.initial.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(data.initial.data(), values.data(), data.initial.size());
  return data;
}

MeasureProblem MeasureTest::DoublingProblem(int data_sets) {
  const ProblemBuffer x = {.name = "x", .sizes = {kNumbers}, .strides = {1}};
  const ProblemBuffer out = {.name = "out",
                             .sizes = {kNumbers / 10, 10},
                             .strides = {10, 1},
                             .expected = ir::Tolerance{.absolute = 0, .relative = 1e-6}};
  MeasureProblem problem = {.buffers = {x, out}};
  for (int set = 0; set < data_sets; ++set) {
    problem.data_sets.push_back(Doubling(1, set == 0 ? 1.0f : 0.25f * static_cast<float>(set), kNumbers));
  }
  return problem;
}

void MeasureTest::Start(const MeasureProblem& problem, MeasurerOptions options) {
  if (compiler_ == nullptr) {
    absl::StatusOr<std::shared_ptr<device::Device>> device = device::OpenDevice(DeviceName());
    if (!device.ok()) throw std::runtime_error(std::string(device.status().message()));
    compiler_ = *std::move(device);
  }
  options.device = DeviceName();
  absl::StatusOr<std::unique_ptr<Measurer>> measurer = Measurer::Start(problem, std::move(options));
  if (!measurer.ok()) throw std::runtime_error(std::string(measurer.status().message()));
  measurer_ = *std::move(measurer);
}

MeasureRequest MeasureTest::RequestFor(const std::string& body, const std::string& more_parameters) {
  const std::string source = std::string(IsCuda() ? kCudaWords : kOpenClWords) +
                             "KERNEL doubled(GLOBAL float* x, GLOBAL float* out" + more_parameters +
                             ") {\n  const int i = INDEX;\n" + body + "\n}\n";
  const absl::StatusOr<CompiledCode> code = compiler_->Compile(source);
  if (!code.ok()) throw std::runtime_error(std::string(code.status().message()));
  return {.code = std::make_shared<CompiledCode>(*code),
          .function = "doubled",
          .arguments = {BufferIndex{0}, BufferIndex{1}},
          .shape = {.grid = kNumbers / 100, .threads = 100},
          .load_limit = kPatience,
          .run_limit = kPatience};
}

wire::Outcome MeasureTest::Measure(const MeasureRequest& request) {
  absl::StatusOr<wire::Outcome> outcome = measurer_->Measure(request);
  if (!outcome.ok()) throw std::runtime_error(std::string(outcome.status().message()));
  return *std::move(outcome);
}

wire::Failure MeasureTest::ExpectFailure(const MeasureRequest& request) {
  const wire::Outcome outcome = Measure(request);
  EXPECT_FALSE(outcome.has_perf_ms()) << "a failed config must have no time";
  EXPECT_TRUE(outcome.has_failure());
  return outcome.failure();
}

void MeasureTest::ExpectThatTheNextIsMeasuredRight() {
  const wire::Outcome outcome = Measure(kRight);
  EXPECT_TRUE(outcome.has_perf_ms()) << outcome.failure().message();
}

std::vector<pid_t> ListChildren(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const size_t end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos) continue;
    if (std::stoi(text.substr(end_of_name + 4)) == parent) children.push_back(std::stoi(name));
  }
  return children;
}

}  // namespace telemetry::worker::tune::measure
