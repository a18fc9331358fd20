#include <string>

#include "gtest/gtest.h"
#include "proto/record/strings.h"
#include "tests/environment.h"
#include "tests/worker/codegen/kernel_runner.h"
#include "tests/worker/codegen/random_config.h"
#include "tests/worker/compiler.h"
#include "tests/worker/ir/random_kernel.h"
#include "worker/ir/compare.h"

// Checks that random kernels with random configs give the same results on a device as the reference. A failure reports
// its seed. TELEMETRY_RANDOM_KERNELS sets the number of kernels, and TELEMETRY_RANDOM_SEED the first seed.

namespace telemetry::worker::codegen {
namespace {

using device::Device;

uint64_t FirstSeed() { return static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_SEED", 0, 0)); }
uint64_t KernelCount() { return static_cast<uint64_t>(NumberFromEnvironment("TELEMETRY_RANDOM_KERNELS", 40)); }

// Reports whether the generator rejected the kernel for a documented limit: a reduction over a size that is only known
// at launch in a graph that cannot be rolled (UNIMPLEMENTED), or a tile that is too large (RESOURCE_EXHAUSTED).
bool IsBeyondTheGenerator(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
}

std::string Describe(const ir::RandomKernel& kernel, const Config& config) {
  return record::Cat("seed ", kernel.seed, "\n", config.ToString(), "\n", ir::DebugString(kernel.ir));
}

void ExpectReferenceResults(const ir::RandomKernel& kernel, const ir::reference::Tensors& expected,
                            const Config& config, Device* device, uint64_t* ran) {
  ir::reference::Tensors actual = kernel.inputs;
  const absl::Status status = RunKernel(kernel.ir, config, kernel.scalars, device, &actual);
  if (IsBeyondTheGenerator(status)) return;
  ASSERT_TRUE(status.ok()) << status << "\n" << Describe(kernel, config);
  ++*ran;
  for (const auto& [tensor, tolerance] : kernel.tolerances) {
    const auto at = static_cast<size_t>(tensor);
    const ir::Comparison comparison = ir::Compare(expected[at], actual[at], tolerance);
    EXPECT_TRUE(comparison.ok()) << kernel.ir.tensors[at].name << ": " << comparison.ToString() << "\n"
                                 << Describe(kernel, config);
  }
}

TEST(RandomKernels, GiveWhatTheReferenceGives) {
  const std::shared_ptr<Device> device = TestDevice();
  const uint64_t first = FirstSeed();
  const uint64_t count = KernelCount();
  uint64_t ran = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ir::RandomKernel kernel = ir::MakeRandomKernel(seed);
    ir::reference::Tensors expected = kernel.inputs;
    ASSERT_TRUE(ir::reference::Evaluate(kernel.ir, {.scalars = kernel.scalars}, &expected).ok()) << "seed " << seed;
    const ConfigSpace space = ConfigSpaceFor(kernel.ir, Target::For(device->properties()));
    ExpectReferenceResults(kernel, expected, space.Default(), device.get(), &ran);
    ExpectReferenceResults(kernel, expected, RandomConfig(space, seed), device.get(), &ran);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(ran, count);
}

TEST(RandomKernels, CompileForCuda) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  uint64_t compiled = 0;
  const uint64_t first = FirstSeed();
  const uint64_t count = KernelCount();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ir::RandomKernel kernel = ir::MakeRandomKernel(seed);
    const int sm = seed % 4 < 2 ? 80 : 90;
    const ConfigSpace space = ConfigSpaceFor(kernel.ir, {.dialect = device::Dialect::kCuda, .sm = sm});
    const Config config = seed % 2 == 0 ? space.Default() : RandomConfig(space, seed);
    const absl::Status status = CompileForCuda(kernel.ir, config, sm);
    EXPECT_TRUE(status.ok() || IsBeyondTheGenerator(status)) << status << "\n" << Describe(kernel, config);
    if (status.ok()) ++compiled;
  }
  EXPECT_GE(compiled, (count + 1) / 2);
}

}  // namespace
}  // namespace telemetry::worker::codegen
