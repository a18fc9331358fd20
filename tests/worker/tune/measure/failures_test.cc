#include "worker/tune/measure/failures.h"

#include <gtest/gtest.h>

namespace telemetry::worker::tune::measure {
namespace {

TEST(FailuresTest, TakesTheDriversError) {
  const wire::Failure failure = MakeFailure(
      kRunPhase, absl::InternalError("cuda:0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal...)"));
  EXPECT_EQ(failure.phase(), "run");
  EXPECT_EQ(failure.error_class(), "IllegalAddress");
  EXPECT_EQ(failure.code(), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(MakeFailure(kRunPhase, absl::InternalError("clEnqueueNDRangeKernel failed: CL_INVALID_KERNEL_ARGS (-52)"))
                .error_class(),
            "InvalidKernelArgs");
}

TEST(FailuresTest, LackOfResourcesIsOneClass) {
  EXPECT_EQ(
      MakeFailure(kLaunchPhase, absl::InternalError("x failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (y)")).error_class(),
      "OutOfResources");
  EXPECT_EQ(MakeFailure(kLaunchPhase, absl::ResourceExhaustedError("no room")).error_class(), "OutOfResources");
}

TEST(FailuresTest, ElseTheStatus) {
  const wire::Failure failure = MakeFailure(kLoadPhase, absl::NotFoundError("no kernel"));
  EXPECT_EQ(failure.error_class(), "NotFound");
  EXPECT_EQ(failure.code(), "NOT_FOUND");
  EXPECT_EQ(failure.message(), "no kernel");
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
