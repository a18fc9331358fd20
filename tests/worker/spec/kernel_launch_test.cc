#include "worker/spec/kernel_launch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;
using testing::HasSubstr;

// Returns the launch of a kernel with blocks of 64 threads, SharedMemory of 100 bytes, and 96 bytes of local memory as
// its last argument if `has_local`.
absl::StatusOr<LaunchSize> Launch(const std::string& language, bool has_local, const std::string& source,
                                  const LaunchLimits& limits = {}) {
  const std::string local = R"({"Name": "own", "Type": "float", "MemoryType": "Local", "Size": 24})";
  const std::string vector = R"({"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": 10})";
  const absl::StatusOr<Specification> spec = ParseSpecification(
      Cat(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "size", "Type": "int", "Values": "[32, 64]"}]},
              "KernelSpecification": {"Language": ")",
          language, R"(", "KernelName": "k", "KernelFile": "k.cl", "ProblemSize": [640], "GridDivX": ["size"],
              "LocalSize": {"X": "size", "Y": 1, "Z": 1}, "SharedMemory": 100, "Arguments": [)",
          vector, has_local ? ", " : "", has_local ? local : "", "]}}"),
      "spec.json");
  if (!spec.ok()) return spec.status();
  const auto declared = DeclaredBlock::Find(source, "k", spec->dialect, spec->names());
  return KernelLaunch(*spec, spec->launch, declared, {1}, limits);
}

TEST(KernelLaunchTest, SetsTheSharedMemoryOfCuda) {
  const absl::StatusOr<LaunchSize> size = Launch("CUDA", /*has_local=*/false, "");
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(size->grid[0], 10);
  EXPECT_EQ(size->threads[0], 64);
  EXPECT_EQ(size->shared_bytes, 100);
  EXPECT_EQ(ToLaunchShape(*size).shared_bytes, 100U);
  EXPECT_EQ(ToLaunchShape(*size).grid, 10);
  EXPECT_EQ(ToLaunchShape(*size).threads, 64);
}

TEST(KernelLaunchTest, SetsTheLocalArgumentOfOpenCl) {
  const absl::StatusOr<LaunchSize> with = Launch("OpenCL", /*has_local=*/true, "");
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(with->shared_bytes, 96);
  const absl::StatusOr<LaunchSize> without = Launch("OpenCL", /*has_local=*/false, "");
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->shared_bytes, 0);
}

TEST(KernelLaunchTest, LimitsDeclaredAndPassedMemoryTogether) {
  EXPECT_TRUE(Launch("OpenCL", /*has_local=*/true, "", {.shared_bytes = 196}).ok());
  EXPECT_EQ(Launch("OpenCL", /*has_local=*/true, "", {.shared_bytes = 195}).status().message(),
            "196 bytes of shared memory; the device's limit is 195");
}

TEST(KernelLaunchTest, RefusesAnotherBlockThanTheSourceDeclares) {
  const std::string source = "__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void k(__global float* out) {}";
  const absl::StatusOr<LaunchSize> size = Launch("OpenCL", /*has_local=*/false, source);
  EXPECT_EQ(size.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(size.status().message()), HasSubstr("64"));
}

}  // namespace
}  // namespace telemetry::worker::spec
