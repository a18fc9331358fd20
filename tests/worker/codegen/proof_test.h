#pragma once

#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/target.h"

namespace telemetry::worker::codegen {

// A way to test a kernel that uses special CUDA instructions. A test that cannot run is skipped.
enum class Proof {
  kCompiles,      // NVRTC compiles the source; needs no GPU
  kRunsOnGpu,     // the results are correct on a GPU with these instructions (TELEMETRY_TEST_DEVICE=cuda:0)
  kRunsInOpenCl,  // the results of the same config are correct on the OpenCL device, without these instructions
};

// The fixture of tests that run once for each Proof.
class ProofTest : public testing::TestWithParam<Proof> {
 protected:
  void SetUp() override;

  // Reports whether code for this CUDA target has the instructions under test.
  virtual bool HasInstructions(const Target& target) const = 0;

  bool runs() const { return GetParam() != Proof::kCompiles; }
  // Compiles the kernel, or runs it and compares it with the reference, depending on the Proof.
  void ExpectRight(const KernelCase& kernel, const std::string& config, ir::Tolerance tolerance) const;
};

std::string ProofName(const testing::TestParamInfo<Proof>& info);

}  // namespace telemetry::worker::codegen
