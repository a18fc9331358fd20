// Kernels of specifications that hang, crash, write far away, print without end, or take all memory, and sources that
// never compile: each costs its own config.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <map>
#include <string>

#include "proto/record/strings.h"
#include "tests/run_program.h"
#include "tests/worker/tune/spec_fixture.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class HostileSpecTest : public SpecFixture {
 protected:
  // Returns options with short time limits and little memory.
  TunerOptions Options(int configs) const {
    TunerOptions options = fixture_.Options(configs);
    options.processes.run_limit = absl::Seconds(10);
    options.processes.compile.time_limit = absl::Seconds(30);
    options.processes.compile.memory_limit_bytes = uint64_t{512} << 20;
    options.processes.measure.memory_limit_bytes = uint64_t{512} << 20;
    return options;
  }
};

constexpr char kHostileRuns[] = R"(
__kernel void add(__global int* out, __global const int* in) {
  const int i = get_global_id(0);
#if mode == 1
  for (volatile int k = 0; k < 2; k = 0) out[i] = k;
#elif mode == 2
  *(volatile __global int*)0 = 1;
#elif mode == 3
  for (long k = 0; k < (1L << 40); k += 512) ((volatile __global int*)out)[k] = 7;
#elif mode == 4
  for (volatile int k = 0; k < 2; k = 0) printf("a line of a flood that does not end: %d\n", i);
#elif mode == 5
  __local int large[1 << 28];
  ((volatile __local int*)large)[i * 1024] = i;
#elif mode == 6
  volatile int large[1 << 28];
  for (int k = 0; k < (1 << 28); k += 1024) large[k] = i;
#elif mode == 7
  printf("one line of %d\n", i);
#endif
  out[i] = in[i] + 1;
})";

TEST_F(HostileSpecTest, AHostileKernelCostsItsOwnConfig) {
  const absl::StatusOr<TuneResult> result = Tune(WriteSpec(kHostileRuns, "range(8)"), Options(8));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=0)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=1)")), "timeout Hang");
  EXPECT_EQ(results.at(Id("Config(mode=2)")), "error Crash");
  EXPECT_EQ(results.at(Id("Config(mode=3)")), "error Crash");
  EXPECT_THAT(results.at(Id("Config(mode=4)")), AnyOf("timeout Hang", "error Crash"));
  EXPECT_EQ(results.at(Id("Config(mode=5)")), "error OutOfResources");
  EXPECT_EQ(results.at(Id("Config(mode=6)")), "error Crash");
  EXPECT_EQ(results.at(Id("Config(mode=7)")), "ok");
  // AddressSanitizer and ThreadSanitizer catch the signal and end the process.
  EXPECT_THAT(MessageOf("Config(mode=2)"), AnyOf(HasSubstr("SIGSEGV"), HasSubstr("Sanitizer: SEGV")));
  EXPECT_THAT(MessageOf("Config(mode=2)"), Not(HasSubstr("one line of")));  // of another config
  EXPECT_THAT(MessageOf("Config(mode=5)"), HasSubstr("declares 1073741824 bytes of local memory, but the device has "));
}

constexpr char kHostileSources[] = R"(
#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))
__kernel void add(__global int* out, __global const int* in) {
  const int i = get_global_id(0);
#if mode == 1
  HUNDRED(HUNDRED(HUNDRED(HUNDRED(HUNDRED(out[i] += in[i];)))))
#elif mode == 2
  HUNDRED(HUNDRED(undeclared = 1;))
#elif mode == 3
#include "add.cl"
#include </dev/zero>
#include </etc/no/such/file>
#endif
  out[i] = in[i] + 1;
})";

TEST_F(HostileSpecTest, AHostileSourceCostsItsOwnConfig) {
  const absl::StatusOr<TuneResult> result = Tune(WriteSpec(kHostileSources, "range(4)"), Options(4));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=0)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=1)")), "error CompileMemory");
  EXPECT_EQ(results.at(Id("Config(mode=2)")), "error CompileError");
  EXPECT_EQ(results.at(Id("Config(mode=3)")), "error CompileError");
  EXPECT_THAT(MessageOf("Config(mode=1)"), HasSubstr("used more than 512 MiB of memory and was killed"));
  EXPECT_LE(MessageOf("Config(mode=2)").size(), 2100u);
}

TEST_F(HostileSpecTest, ConfigsBeyondTheDevicesLimitsAreNotCompiled) {
  const std::string source = Cat("#if mode != 16\n#error this config must not be compiled\n#endif\n", R"(
__kernel void add(__global int* out, __global const int* in) { out[get_global_id(0)] = in[get_global_id(0)] + 1; })");
  const std::string spec = Write("limits.json", R"({"ConfigurationSpace": {"TuningParameters": [
        {"Name": "mode", "Type": "int", "Values": "[16, 32, 64]"}]},
        "KernelSpecification": {"Language": "OpenCL", "KernelName": "add", "KernelFile": "kernel.cl",
        "GlobalSize": {"X": "1048576"}, "LocalSize": {"X": "16 if mode != 32 else 1048576 / 16"},
        "SharedMemory": "0 if mode != 64 else 2 ** 30", "Arguments": [
        {"Name": "out", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 1048576},
        {"Name": "in", "Type": "int32", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Range",
         "Size": 1048576}]}})");
  Write("kernel.cl", source);
  const absl::StatusOr<TuneResult> result = Tune(spec, Options(3));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=16)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=32)")), "filtered OutOfResources");
  EXPECT_EQ(results.at(Id("Config(mode=64)")), "filtered OutOfResources");
  EXPECT_THAT(MessageOf("Config(mode=32)"), HasSubstr("65536 threads per block; the device's limit is "));
  EXPECT_THAT(MessageOf("Config(mode=64)"), HasSubstr("1073741824 bytes of shared memory; the device's limit is "));
}

TEST_F(HostileSpecTest, ConfigsWithAnotherBlockThanTheSourceDeclaresAreNotCompiled) {
  const absl::StatusOr<TuneResult> result = Tune(WriteSpec(R"(
#if mode == 2
#error this config must not be compiled
#endif
#define width (16 * mode)
__kernel __attribute__((reqd_work_group_size(width, 1, 1))) void add(__global int* out, __global const int* in) {
  out[get_global_id(0)] = in[get_global_id(0)] + 1;
})",
                                                           "[1, 2]"),
                                                 Options(2));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::map<uint64_t, std::string> results = Results();
  EXPECT_EQ(results.at(Id("Config(mode=1)")), "ok");
  EXPECT_EQ(results.at(Id("Config(mode=2)")), "error InvalidArgument");
  EXPECT_THAT(MessageOf("Config(mode=2)"),
              HasSubstr("blocks of (16, 1, 1); the kernel's reqd_work_group_size is (32, 1, 1)"));
}

TEST_F(HostileSpecTest, VectorsThatDoNotFitIntoMemoryAreRefused) {
  std::string arguments;
  for (int i = 0; i < 200; ++i) {
    arguments += Cat(i == 0 ? "" : ", ", R"({"Name": "v)", i, R"(", "Type": "float", "MemoryType": "Vector", "Size": )",
                     (1 << 30) - 200 + i, "}");
  }
  const std::string spec = Write("large.json", Cat(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "mode", "Type": "int", "Values": "[0]"}]}, "KernelSpecification": {"Language": "OpenCL",
      "KernelName": "add", "KernelFile": "kernel.cl", "GlobalSize": {"X": "64"}, "LocalSize": {"X": "16"},
      "Arguments": [)",
                                                   arguments, "]}}"));
  Write("kernel.cl", "__kernel void add() {}");
  const absl::Status refused = Tune(spec, 1).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the vectors need 1600.0 GiB with their expected values, and "));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the largest vector is 'v199' with 4.0 GiB"));
}

// The terminal gets no output of kernels, and every process has ended when the command ends.
TEST_F(HostileSpecTest, TheCommandStaysQuietAndLeavesNoProcess) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans become children of this process
  const std::string spec = WriteSpec(kHostileRuns, "[0, 1, 4, 7]");
  const ProgramOutcome outcome = RunProgram(
      "telemetry-worker", Cat("tune --spec ", spec, " --device opencl:0 --collector '' --log ", fixture_.folder(),
                              "/log --state-dir ", fixture_.folder(), "/state --compilers 1 --run-limit 5s"));
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("a line of a flood")));
  EXPECT_LT(outcome.output.size(), 4096u) << outcome.output;
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

}  // namespace
}  // namespace telemetry::worker::tune
