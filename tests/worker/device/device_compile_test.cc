#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/device/device_fixture.h"

namespace telemetry::worker::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using DeviceCompileTest = DeviceTest;

constexpr char kSetOne[] = "KERNEL set_one(GLOBAL float* out) { out[THREAD] = 1; }\n";

TEST_F(DeviceCompileTest, ShowsTheCompilersLog) {
  const absl::StatusOr<CompiledCode> code =
      device_->Compile(InDialect(*device_, "KERNEL broken(GLOBAL float* out) { out[0] = never_declared; }"));
  EXPECT_EQ(code.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("never_declared"));
}

TEST_F(DeviceCompileTest, NamesWhatTheModuleHasNot) {
  const CompiledCode code = device_->Compile(InDialect(*device_, kSetOne)).value();
  const std::unique_ptr<Module> module = device_->Load(code).value();
  const absl::Status status = module->GetFunction("set_two").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("set_two"));
}

TEST_F(DeviceCompileTest, CodeOfOneDeviceLoadsInAnotherOfItsKind) {
  const CompiledCode code = device_->Compile(InDialect(*device_, kSetOne)).value();
  const std::shared_ptr<Device> other = Open();
  const std::unique_ptr<Module> module = other->Load(code).value();
  const std::unique_ptr<Function> set_one = module->GetFunction("set_one").value();
  const std::unique_ptr<Buffer> out = BufferOn(other.get(), {0, 0});
  ASSERT_EQ(set_one->Launch({.grid = 1, .threads = 2}, {out.get()}), absl::OkStatus());
  EXPECT_THAT(ValuesOn(other.get(), *out), ElementsAre(1, 1));
}

TEST_F(DeviceCompileTest, RefusesCodeThatIsNone) {
  EXPECT_EQ(device_->Load({.binary = "this is no code at all, and long enough to look at"}).status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(DeviceCompileTest, KnowsAKernelsOwnSharedMemory) {
  const bool cuda = device_->properties().dialect == Dialect::kCuda;
  const std::unique_ptr<Function> kernel = Kernel(
      "own", std::string("KERNEL own(GLOBAL float* out) {\n") + (cuda ? "__shared__" : "__local") + R"( float own[256];
  own[THREAD] = out[THREAD];
  SYNC;
  out[THREAD] = own[THREADS - 1 - THREAD];
})");
  EXPECT_EQ(kernel->attributes().static_shared_bytes, 1024u);
  EXPECT_EQ(kernel->attributes().registers > 0, cuda);
}

TEST_F(DeviceCompileTest, ComputesWithoutFastMathematics) {
  // Divisions must be rounded correctly, and subnormal numbers must not be flushed to zero.
  const std::unique_ptr<Function> kernel = Kernel("exact", R"(
KERNEL exact(GLOBAL float* values) {
  values[0] = values[0] / values[1];
  values[2] = values[2] * 0.5f;
})");
  const std::unique_ptr<Buffer> values = MakeBuffer({1, 3, 0x1p-140f});
  ASSERT_EQ(kernel->Launch({.grid = 1, .threads = 1}, {values.get()}), absl::OkStatus());
  EXPECT_THAT(Values(*values), ElementsAre(1.0f / 3.0f, 3, 0x1p-141f));
}

}  // namespace
}  // namespace telemetry::worker::device
