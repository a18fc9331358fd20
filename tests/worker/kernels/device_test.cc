// Compares every kernel of the library on a device with its reference. TELEMETRY_TEST_DEVICE names the device.
// TELEMETRY_ALL_CONFIGS=1 runs one config for each dtype and each value of each parameter; the default is configs that
// change all parameters at once.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "proto/record/strings.h"
#include "tests/worker/kernels/config_variants.h"
#include "tests/worker/kernels/kernel_runner.h"
#include "tests/worker/kernels/test_problems.h"
#include "worker/kernels/draw.h"

namespace telemetry::worker::kernels {
namespace {

using device::DType;
using runtime::DotPrecision;

constexpr uint64_t kSeed = 11;

class KernelOnDeviceTest : public testing::TestWithParam<const LibraryKernel*> {
 protected:
  const LibraryKernel& kernel() const { return *GetParam(); }

  void ExpectReference(const Case& made, const absl::StatusOr<Outputs>& outputs) {
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(Mismatch(kernel(), made.problem, kernel().reference(made), *outputs), "");
  }

  // Checks each config. Skips configs that do not fit the device; the test's output contains the number that ran.
  void ExpectReferenceWithEach(const Case& made, const std::vector<codegen::Config>& configs) {
    const Outputs expected = kernel().reference(made);
    KernelRunner runner(kernel());
    ASSERT_EQ(runner.Bind(made), absl::OkStatus());
    size_t ran = 0;
    for (const codegen::Config& config : configs) {
      const absl::StatusOr<Outputs> outputs = runner.Launch(config);
      if (absl::IsResourceExhausted(outputs.status())) continue;
      ASSERT_TRUE(outputs.ok()) << config.ToString() << ": " << outputs.status();
      EXPECT_EQ(Mismatch(kernel(), made.problem, expected, *outputs), "") << config.ToString();
      ++ran;
    }
    EXPECT_GT(ran, configs.size() / 2) << "few of the configs fit the device";
    std::cout << made.problem.ToString() << ": " << ran << " of " << configs.size() << " configs\n";
  }
};

// Returns the same elements with other strides: the dimensions in reverse order in memory and a gap after each row.
Case Restrided(const LibraryKernel& kernel, Case made) {
  for (const TensorArgument& argument : kernel.tensors) {
    ir::HostArray& array = made.tensors.at(argument.name);
    std::vector<int64_t> strides(array.sizes.size());
    int64_t next = array.sizes.size() == 1 ? 2 : 1;
    for (size_t i = 0; i < strides.size(); ++i) {
      strides[i] = next;
      next = next * array.sizes[i] + 3;
    }
    const std::vector<double> values = array.RowMajor();
    array = ir::HostArray::Strided(array.dtype, array.sizes, strides);
    array.SetRowMajor(values);
  }
  return made;
}

TEST_P(KernelOnDeviceTest, SolvesEveryProblem) {
  KernelRunner runner(kernel());
  for (const NamedProblem& problem : TestProblems(kernel())) {
    // Long problems run in the next test, with code that is compiled once for all sizes.
    if (!AllConfigs() && absl::StartsWith(problem.name, "long")) continue;
    SCOPED_TRACE(problem.problem.ToString());
    const Case made = MakeCase(kernel(), problem.problem, kSeed);
    ExpectReference(made, runner.Run(made));
  }
}

// Checks code for dynamic sizes. Sizes of 0 and 1 and sizes that the kernel specialises on have separate code, and PoCL
// needs seconds to compile each. On OpenCL, only the code that solves most problems therefore runs by default;
// TELEMETRY_ALL_CONFIGS=1 runs all.
TEST_P(KernelOnDeviceTest, SolvesEveryProblemWithCodeForAnySize) {
  const bool all = AllConfigs() || TestDevice()->properties().dialect == device::Dialect::kCuda;
  KernelRunner runner(kernel(), {.static_shapes = false, .dot_precision = DotPrecision::kIeee});
  std::map<Numbers, const runtime::BoundKernel*> first_codes;
  size_t left_out = 0;
  for (const auto& [name, problem] : TestProblems(kernel())) {
    const Case made = MakeCase(kernel(), problem, kSeed);
    ASSERT_EQ(runner.Bind(made), absl::OkStatus());
    const bool is_default = problem.tensors[0].dtype == kernel().default_dtype;
    if (is_default) first_codes.try_emplace(problem.numbers, &runner.bound());
    if (!all && (!is_default || first_codes.at(problem.numbers) != &runner.bound())) {
      ++left_out;
      continue;
    }
    SCOPED_TRACE(problem.ToString());
    ExpectReference(made, runner.Run(made));
  }
  if (left_out > 0)
    std::cout << left_out << " problems with separate code are skipped; set TELEMETRY_ALL_CONFIGS=1 to run them\n";
}

TEST_P(KernelOnDeviceTest, TakesInputsThatAreNotContiguous) {
  for (const bool static_shapes : {true, false}) {
    KernelRunner runner(kernel(), {.static_shapes = static_shapes, .dot_precision = DotPrecision::kIeee});
    for (const Numbers& flags : FlagCombinations(kernel())) {
      const Case dense = MakeCase(kernel(), RaggedProblem(kernel(), kernel().default_dtype, flags), kSeed);
      SCOPED_TRACE(dense.problem.ToString());
      ExpectReference(dense, runner.Run(Restrided(kernel(), dense)));
    }
  }
}

TEST_P(KernelOnDeviceTest, GivesTheSameForEveryConfig) {
  for (const Numbers& flags : FlagCombinations(kernel())) {
    for (const DType dtype : AllConfigs() ? kernel().dtypes : std::vector<DType>{kernel().default_dtype}) {
      const Case made = MakeCase(kernel(), RaggedProblem(kernel(), dtype, flags), kSeed);
      KernelRunner runner(kernel());
      ASSERT_EQ(runner.Bind(made), absl::OkStatus());
      const codegen::ConfigSpace& space = runner.bound().config_space();
      ExpectReferenceWithEach(made, AllConfigs() ? OneAtATime(space) : AllAtOnce(space));
    }
  }
}

class KernelWithDotsTest : public KernelOnDeviceTest {};

// The tolerance for operands of magnitude 1 or less that tensor cores truncate to 10 bits of mantissa.
constexpr ir::Tolerance kTf32Tolerance = {.absolute = 0.05, .relative = 0x1p-9};

TEST_P(KernelWithDotsTest, StayNearTheReferenceInTf32) {
  KernelRunner runner(kernel(), {.dot_precision = DotPrecision::kTf32});
  for (const Numbers& flags : FlagCombinations(kernel())) {
    const Case made = MakeCase(kernel(), RaggedProblem(kernel(), DType::kF32, flags), kSeed);
    SCOPED_TRACE(made.problem.ToString());
    const absl::StatusOr<Outputs> outputs = runner.Run(made);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (const auto& [name, expected] : kernel().reference(made)) {
      const ir::Comparison comparison = ir::Compare(expected, outputs->at(name), kTf32Tolerance);
      EXPECT_TRUE(comparison.ok()) << name << ": " << comparison.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Library, KernelWithDotsTest, testing::ValuesIn(KernelsWithDots()),
                         [](const auto& info) { return info.param->name; });
INSTANTIATE_TEST_SUITE_P(Library, KernelOnDeviceTest, testing::ValuesIn(AllKernels().begin(), AllKernels().end()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace telemetry::worker::kernels
