#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_runner.h"
#include "tests/worker/ir/random_kernel.h"
#include "worker/ir/compare.h"

// Random kernels with random configs: a device gives what the reference gives. A failure names its seed.
// TELEMETRY_RANDOM_KERNELS=N runs N of them, TELEMETRY_RANDOM_SEED=S begins at S.

namespace telemetry::worker::codegen {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A reduction over a size that is only known at launch, in a graph that cannot be rolled.
bool IsBeyondTheGenerator(const absl::Status& status) { return absl::IsUnimplemented(status); }

TEST(RandomKernels, GiveWhatTheReferenceGives) {
  const std::shared_ptr<Device> device = TestDevice();
  const uint64_t first = FromEnvironment("TELEMETRY_RANDOM_SEED", 0);
  const uint64_t count = FromEnvironment("TELEMETRY_RANDOM_KERNELS", 60);
  uint64_t ran = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ir::RandomKernel kernel = ir::MakeRandomKernel(seed);
    ir::ReferenceTensors expected = kernel.inputs;
    ASSERT_TRUE(ir::EvaluateReference(kernel.ir, {.scalars = kernel.scalars}, &expected).ok()) << "seed " << seed;
    ir::ReferenceTensors actual = kernel.inputs;
    const Config config = ConfigSpaceFor(kernel.ir).Default();
    const absl::Status status = RunKernel(kernel.ir, config, kernel.scalars, device.get(), &actual);
    if (IsBeyondTheGenerator(status)) continue;
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n" << config.ToString();
    ++ran;
    for (const auto& [tensor, tolerance] : kernel.tolerances) {
      const ir::Comparison comparison =
          ir::Compare(expected[static_cast<size_t>(tensor)], actual[static_cast<size_t>(tensor)], tolerance);
      EXPECT_TRUE(comparison.ok()) << "seed " << seed << ", " << kernel.ir.tensors[static_cast<size_t>(tensor)].name
                                   << ": " << comparison.ToString() << "\n"
                                   << config.ToString() << "\n"
                                   << ir::DebugString(kernel.ir);
    }
  }
  EXPECT_GE(ran, count / 2);
}

}  // namespace
}  // namespace telemetry::worker::codegen
