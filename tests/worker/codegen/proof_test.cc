#include "tests/worker/codegen/proof_test.h"

#include "tests/worker/codegen/kernel_runner.h"
#include "tests/worker/compiler.h"

namespace telemetry::worker::codegen {

void ProofTest::SetUp() {
  if (GetParam() == Proof::kCompiles) {
    if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC; set TELEMETRY_NVRTC to the path of libnvrtc.so.13";
    return;
  }
  const auto device = TestDevice();
  const Target target = Target::For(device->properties());
  const bool is_cuda = target.dialect == device::Dialect::kCuda;
  if (GetParam() == Proof::kRunsInOpenCl) {
    if (is_cuda) GTEST_SKIP() << device->id() << " is not an OpenCL device";
  } else if (!is_cuda || !HasInstructions(target)) {
    GTEST_SKIP() << device->id()
                 << " does not have the instructions under test; set TELEMETRY_TEST_DEVICE to a GPU that has them";
  }
}

void ProofTest::ExpectRight(const KernelCase& kernel, const std::string& config, ir::Tolerance tolerance) const {
  if (runs()) {
    kernel.ExpectResults(config, tolerance);
  } else {
    kernel.ExpectCompiles(config);
  }
}

std::string ProofName(const testing::TestParamInfo<Proof>& info) {
  switch (info.param) {
    case Proof::kCompiles:
      return "Compiles";
    case Proof::kRunsOnGpu:
      return "RunsOnGpu";
    case Proof::kRunsInOpenCl:
      return "RunsInOpenCl";
  }
  return "";
}

}  // namespace telemetry::worker::codegen
