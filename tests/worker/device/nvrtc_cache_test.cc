#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "worker/device/compile_cuda.h"

namespace telemetry::worker::device {
namespace {

constexpr char kSource[] = "extern \"C\" __global__ void kernel(float* out) { out[0] = 1; }";

// Compilers that initialise the driver delay the start of a search. Both halves are in one test, because NVRTC looks
// for the driver once in a process.
TEST(NvrtcCacheTest, WithoutItTheDriverIsNotInitialised) {
  if (const absl::Status status = NvrtcVersion().status(); !status.ok()) {
    ASSERT_EQ(std::getenv("TELEMETRY_NVRTC"), nullptr) << status;
    GTEST_SKIP() << status;
  }
  // A library that is loaded already is found by its name.
  void* const driver = dlopen(TELEMETRY_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(driver, nullptr) << dlerror();
  const int* const initialisations = static_cast<const int*>(dlsym(driver, "initialisations"));
  ASSERT_NE(initialisations, nullptr);

  ASSERT_EQ(CompileCuda(kSource, "sm_90", NvrtcCache::kBypassed).status(), absl::OkStatus());
  EXPECT_EQ(*initialisations, 0);
  ASSERT_EQ(CompileCuda(kSource, "sm_90", NvrtcCache::kUsed).status(), absl::OkStatus());
  if (*initialisations == 0) GTEST_SKIP() << "this NVRTC has no cache";
}

}  // namespace
}  // namespace telemetry::worker::device
