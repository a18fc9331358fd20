// Tunes kernels of T1 specifications on the CPU's OpenCL device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "tests/paths.h"
#include "tests/worker/tune/spec_fixture.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using testing::HasSubstr;

class SpecTuneTest : public SpecFixture {};

TEST_F(SpecTuneTest, TunesAConvolution) {
  const absl::StatusOr<TuneResult> result = Tune(TestdataDir() + "/t1/opencl/convolution.json", 8);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(fixture_.Statuses(), testing::ElementsAre(testing::Key("ok")));
  ASSERT_TRUE(result->ranking.best.has_value());
  EXPECT_GT(result->ranking.best->perf_ms, 0);
}

TEST_F(SpecTuneTest, TunesNBodyAgainstAReferenceKernel) {
  const absl::StatusOr<TuneResult> result = Tune(TestdataDir() + "/t1/opencl/nbody.json", 5);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ranking.best.has_value());
  EXPECT_EQ(fixture_.Statuses().count("error"), 0u);
}

TEST_F(SpecTuneTest, TunesPnpolyAgainstAReferenceConfig) {
  const absl::StatusOr<TuneResult> result = Tune(TestdataDir() + "/t1/opencl/pnpoly.json", 5);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ranking.best.has_value());
  EXPECT_EQ(fixture_.Statuses().count("error"), 0u);
}

// The reference config needs the local memory, too.
TEST_F(SpecTuneTest, TunesAKernelWithALocalArgument) {
  const absl::StatusOr<TuneResult> result = Tune(TestdataDir() + "/../worker/wrapper/source/relax.opencl.json", 3);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(fixture_.Statuses(), testing::ElementsAre(testing::Key("ok")));
}

constexpr char kBadModes[] = R"(
__kernel void add(__global int* out, __global const int* in) {
  const int i = get_global_id(0);
#if mode == 0
  out[i] = in[i] + 1;
#elif mode == 1
  out[i] = in[i] + (i == 63 ? 2 : 1);
#elif mode == 2
#error this mode does not exist
#elif mode == 3
  out[i] = in[i] + 1;
  if (i == 63) out[i + 1] = 7;
#elif mode == 4
  out[i] = in[i] + 1;
  if (i == 0) ((__global int*)in)[5] = 0;
#else
  out[i] = in[i] + 1;
  *(volatile __global int*)(mode == 5 ? 0 : in) = 0;
#endif
})";

TEST_F(SpecTuneTest, ParametersThatTheSourceDoesNotNameShareItsCode) {
  Write("kernel.cl", "__kernel void add(__global int* out) { out[get_global_id(0)] = get_local_size(0) > 0; }\n");
  const std::string spec = Write("spec.json", R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[8, 16, 32]"},
      {"Name": "unused", "Type": "int", "Values": "[0, 1]"}]},
      "KernelSpecification": {"Language": "OpenCL", "KernelName": "add", "KernelFile": "kernel.cl", "ProblemSize": [64],
      "Arguments": [{"Name": "out", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 64}]}})");
  const absl::StatusOr<TuneResult> result = Tune(spec, 6);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counters.unique_sources, 1);
  std::map<std::string, int> statuses;
  for (const auto& [config_id, status] : Results()) ++statuses[status];
  // The launches of the three blocks differ; equal code with equal launches is measured once.
  EXPECT_EQ(statuses, (std::map<std::string, int>{{"ok", 3}, {"deduplicated", 3}}));
}

TEST_F(SpecTuneTest, EachFailureIsTheResultOfItsConfig) {
  const absl::StatusOr<TuneResult> result = Tune(WriteSpec(kBadModes, "range(6)"), 6);
  ASSERT_TRUE(result.ok()) << result.status();
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=0)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=1)")), "error WrongResult");
  EXPECT_THAT(results.at(Id("Config(mode=2)")), HasSubstr("error"));
  EXPECT_EQ(results.at(Id("Config(mode=3)")), "error OutOfBounds");
  EXPECT_EQ(results.at(Id("Config(mode=4)")), "error InputChanged");
  EXPECT_THAT(results.at(Id("Config(mode=5)")), HasSubstr("error"));
}

TEST_F(SpecTuneTest, WithoutVerificationNoResultIsWrong) {
  const std::string spec = WriteSpec(kBadModes, "[0, 1, 3]", R"("Verification": {"Method": "None"})");
  ASSERT_TRUE(Tune(spec, 3).ok());
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=1)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=3)")), "error OutOfBounds");
}

TEST_F(SpecTuneTest, ComparesWithExpectedValues) {
  const std::string spec = WriteSpec(kBadModes, "[0, 1]", R"("ReferenceArguments": [{"Name": "r", "TargetName": "out",
      "FillType": "Constant", "FillValue": 5, "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 59}])");
  ASSERT_TRUE(Tune(spec, 2).ok());
  EXPECT_EQ(Results().at(Id("Config(mode=0)")), "ok");  // 1 to 64, 59 from 5 at most
  EXPECT_EQ(Results().at(Id("Config(mode=1)")), "error WrongResult");
}

TEST_F(SpecTuneTest, TakesElementsOfEveryType) {
  // Each is compared in its own way: as bytes, as 32-bit words, as doubles. TELEMETRY_SPEC_TYPES=1 adds the others.
  std::vector<std::pair<std::string, std::string>> types = {
      {"int16", "short"}, {"int64", "long"}, {"double", "double"}};
  if (getenv("TELEMETRY_SPEC_TYPES") != nullptr) {
    types.insert(types.end(), {{"int8", "char"},
                               {"int32", "int"},
                               {"uint8", "uchar"},
                               {"uint16", "ushort"},
                               {"uint32", "uint"},
                               {"uint64", "ulong"},
                               {"float", "float"}});
  }
  for (const auto& [t1, c] : types) {
    const std::string source = Cat("__kernel void add(__global ", c, "* out, __global const ", c,
                                   "* in) { out[get_global_id(0)] = in[get_global_id(0)] + (", c,
                                   ")(mode == 1 && get_global_id(0) == 63 ? 2 : 1); }");
    const absl::StatusOr<TuneResult> result = Tune(WriteSpec(source, "[0, 1]", "", t1), 2);
    ASSERT_TRUE(result.ok()) << t1 << ": " << result.status();
    EXPECT_EQ(Results().at(Id("Config(mode=0)")), "ok") << t1;
    EXPECT_EQ(Results().at(Id("Config(mode=1)")), "error WrongResult") << t1;
  }
}

TEST_F(SpecTuneTest, AReferenceThatFailsIsAnError) {
  const absl::StatusOr<TuneResult> compiling = Tune(WriteSpec(kBadModes, "[2, 0]"), 2);
  EXPECT_EQ(compiling.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(compiling.status().message()), HasSubstr("this mode does not exist"));
}

TEST_F(SpecTuneTest, CommentsAndLayoutDoNotChangeTheRun) {
  const auto run_of = [&](const std::string& source) {
    const absl::StatusOr<SpecSubject> subject = Subject(WriteSpec(source, "[0, 1]"));
    EXPECT_TRUE(subject.ok()) << subject.status();
    return subject->info.run.run_id();
  };
  const std::string plain = "__kernel void add(__global int* out, __global const int* in) {\n  out[0] = 1;\n}\n";
  const std::string commented =
      "// A kernel.\n\n__kernel  void add(__global int* out, /* the input */ __global const int* in) {\n"
      "\tout[0] = 1;  // the first\n\n}";
  const std::string other = "__kernel void add(__global int* out, __global const int* in) {\n  out[0] = 2;\n}\n";
  EXPECT_EQ(run_of(plain), run_of(commented));
  EXPECT_NE(run_of(plain), run_of(other));
}

TEST_F(SpecTuneTest, RefusesWhatTheDeviceCannotRun) {
  const absl::StatusOr<TuneResult> cuda = Tune(TestdataDir() + "/t1/kernel_tuner/test_T1_input.json", 1);
  EXPECT_THAT(std::string(cuda.status().message()),
              HasSubstr("KernelSpecification.Language: the kernel is written in CUDA"));
  const std::string missing = Write("missing.json", R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "a", "Type": "int", "Values": "[1]"}]}, "KernelSpecification": {"Language": "OpenCL", "KernelName": "k",
      "KernelFile": "nowhere.cl", "GlobalSize": {"X": "1"}, "LocalSize": {"X": "1"}}})");
  EXPECT_THAT(std::string(Tune(missing, 1).status().message()), HasSubstr("there is no file 'nowhere.cl'"));
}

}  // namespace
}  // namespace telemetry::worker::tune
