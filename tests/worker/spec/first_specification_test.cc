#include "worker/spec/first_specification.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {
namespace {

using testing::HasSubstr;

constexpr char kSource[] = R"(
#include <vector>
#ifndef tile_size
#define tile_size 4   // outputs of a thread
#endif
#define RADIUS 3
/* __global__ void old(int unused); */
__device__ float square(float x) { return x * x; }
extern "C" __global__ void __launch_bounds__(256) scale(float* __restrict__ out, const double2 *in,
                                                        unsigned int n, const half factor) {
#if use_cache == 1 && RADIUS > 2
#endif
}
template <int N> __global__ void other(long long *x) {}
)";

Specification Read(const record::Json& json) {
  const absl::StatusOr<Specification> spec = ParseSpecification(record::ToJson(json), "spec.json");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(Specification());
}

TEST(FirstSpecificationTest, HasArgumentsAndMacros) {
  const absl::StatusOr<record::Json> json = FirstSpecification(kSource, "scale.cu", device::Dialect::kCuda, "");
  ASSERT_TRUE(json.ok()) << json.status();
  const Specification spec = Read(*json);
  EXPECT_EQ(spec.kernel_name, "scale");
  EXPECT_EQ(spec.kernel_file, "scale.cu");
  ASSERT_EQ(spec.arguments.size(), 4u);
  EXPECT_EQ(spec.arguments[0].name, "out");
  EXPECT_TRUE(spec.arguments[0].is_written);
  EXPECT_EQ(T1Name(spec.arguments[1].type), "double2");
  EXPECT_FALSE(spec.arguments[1].is_written);
  EXPECT_EQ(T1Name(spec.arguments[2].type), "uint32");
  EXPECT_EQ(spec.arguments[2].memory, Argument::Memory::kScalar);
  EXPECT_EQ(T1Name(spec.arguments[3].type), "half");
  ASSERT_EQ(spec.parameters.size(), 3u);
  EXPECT_EQ(spec.parameters[0].name, "block_size_x");
  EXPECT_EQ(spec.parameters[1].name, "tile_size");
  EXPECT_EQ(Value::List(&spec.parameters[1].values).ToString(), "[4]");
  EXPECT_EQ(spec.parameters[2].name, "use_cache");
}

TEST(FirstSpecificationTest, ChoosesAKernel) {
  const absl::StatusOr<record::Json> json = FirstSpecification(kSource, "scale.cu", device::Dialect::kCuda, "other");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(T1Name(Read(*json).arguments[0].type), "int64");
  const absl::StatusOr<record::Json> none = FirstSpecification(kSource, "scale.cu", device::Dialect::kCuda, "old");
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("scale.cu has no kernel 'old'; it has scale, other"));
  EXPECT_EQ(FirstSpecification("void f() {}", "f.cl", device::Dialect::kOpenCl, "").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(FirstSpecificationTest, ReadsOpenCl) {
  const absl::StatusOr<record::Json> json = FirstSpecification(
      "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sum(__global float4* out, __constant uchar* in,\n"
      "    __local int* scratch, short n) {}",
      "sum.cl", device::Dialect::kOpenCl, "");
  ASSERT_TRUE(json.ok()) << json.status();
  const Specification spec = Read(*json);
  EXPECT_EQ(spec.kernel_name, "sum");
  ASSERT_EQ(spec.arguments.size(), 4u);
  EXPECT_EQ(T1Name(spec.arguments[0].type), "float4");
  EXPECT_EQ(T1Name(spec.arguments[1].type), "uint8");
  EXPECT_EQ(spec.arguments[2].memory, Argument::Memory::kLocal);
  EXPECT_EQ(T1Name(spec.arguments[3].type), "int16");
}

TEST(FirstSpecificationTest, FindsTheSecondDimension) {
  const absl::StatusOr<record::Json> json = FirstSpecification(
      "__kernel void fill(__global float* out) { out[get_global_id( 1 ) /* y */] = get_group_id(1); }", "fill.cl",
      device::Dialect::kOpenCl, "");
  ASSERT_TRUE(json.ok()) << json.status();
  const Specification spec = Read(*json);
  EXPECT_EQ(spec.problem_size.size(), 2u);
  EXPECT_EQ(spec.arguments[0].elements, 1024 * 1024);
  ASSERT_EQ(spec.parameters.size(), 2u);
  EXPECT_EQ(spec.parameters[1].name, "block_size_y");
  const absl::StatusOr<LaunchSize> launch = LaunchSizeOf(spec.launch, spec.ValuesAt(spec.DefaultConfig()));
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_EQ(launch->grid, (std::array<int64_t, 3>{64, 256, 1}));
}

}  // namespace
}  // namespace telemetry::worker::spec
