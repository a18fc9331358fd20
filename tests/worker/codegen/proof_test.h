#pragma once

#include <string>

#include "gtest/gtest.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/generate.h"

namespace telemetry::worker::codegen {

// One way to test a kernel for which CUDA has instructions of its own. A test that cannot run is skipped.
enum class Proof {
  kCompiles,      // NVRTC takes its source; needs no GPU
  kRunsOnGpu,     // its results are right on a GPU with these instructions (TELEMETRY_TEST_DEVICE=cuda:0)
  kRunsInOpenCl,  // the same config's results are right on the OpenCL device, without these instructions
};

class ProofTest : public testing::TestWithParam<Proof> {
 protected:
  void SetUp() override;

  // Returns whether code for this CUDA target has the instructions that the test is about.
  virtual bool HasInstructions(const Target& target) const = 0;

  bool runs() const { return GetParam() != Proof::kCompiles; }
  void ExpectRight(const KernelCase& kernel, const std::string& config, ir::Tolerance tolerance) const;
};

std::string NameOf(const testing::TestParamInfo<Proof>& info);

}  // namespace telemetry::worker::codegen
