// Tests calls on memory of the program: results on the first OpenCL device, and the use of streams on a fake device.

#include "worker/runtime/program_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/runtime/fake_device.h"
#include "tests/worker/runtime/program_memory.h"
#include "tests/worker/runtime/test_kernels.h"
#include "worker/device/interop.h"
#include "worker/device/open_device.h"
#include "worker/runtime/program_tensor.h"

namespace telemetry::worker::runtime {
namespace {

using device::DType;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

KernelSpec Spec() {
  KernelSpec spec = AddScaledSpec();
  spec.settings = Settings{.use_default_config = true};
  return spec;
}

class ProgramCallTest : public testing::Test {
 protected:
  Tensor At(const ProgramFloats& floats, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides = {},
            int64_t offset = 0) {
    const ProgramMemory memory{.address = floats.address(),
                               .offset = offset,
                               .sizes = Dimensions(sizes.begin(), sizes.end()),
                               .strides = Dimensions(strides.begin(), strides.end())};
    return WrapProgramMemory(device_, memory).value();
  }

  std::shared_ptr<device::Device> device_ = device::OpenDevice("opencl:0").value();
  std::unique_ptr<Kernel> kernel_ = MakeKernel(Spec());
};

TEST_F(ProgramCallTest, WritesTheOutputInTheProgramsMemoryOnly) {
  constexpr size_t kCount = 1000;
  ProgramFloats x(3 * kCount);
  ProgramFloats y(kCount);
  for (size_t i = 0; i < 3 * kCount; ++i) x[i] = static_cast<float>(i);
  for (size_t i = 0; i < kCount; ++i) y[i] = 0.5f * static_cast<float>(i);
  ProgramFloats out(kCount + 16, -1);
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(RunOnProgramMemory(*kernel_, {At(x, {kCount}, {3}), At(y, {kCount}), 2.0}, {At(out, {kCount}, {1}, 8)},
                                 std::nullopt),
              absl::OkStatus());
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(out[8 + i], 4 * static_cast<float>(i)) << i;
    for (const size_t i : {size_t{0}, size_t{7}, kCount + 8, kCount + 15}) EXPECT_EQ(out[i], -1) << i;
    out[8] = -7;  // the next call has to write it again
  }
}

TEST_F(ProgramCallTest, SeesWhatTheProgramWroteBetweenCalls) {
  ProgramFloats x(64, 1);
  ProgramFloats out(64);
  const Arguments arguments = {At(x, {64}), At(x, {64}), 1.0};
  const Tensor output = At(out, {64});
  ASSERT_EQ(RunOnProgramMemory(*kernel_, arguments, {output}, std::nullopt), absl::OkStatus());
  EXPECT_THAT(out.values(), Each(2));
  for (size_t i = 0; i < 64; ++i) x[i] = 3;
  ASSERT_EQ(RunOnProgramMemory(*kernel_, {At(x, {64}), At(x, {64}), 1.0}, {output}, std::nullopt), absl::OkStatus());
  EXPECT_THAT(out.values(), Each(6));
}

TEST_F(ProgramCallTest, RefusesOutputsThatDoNotFit) {
  ProgramFloats x(64, 1);
  ProgramFloats out(128);
  const Arguments arguments = {At(x, {64}), At(x, {64}), 1.0};
  const absl::Status strided = RunOnProgramMemory(*kernel_, arguments, {At(out, {64}, {2})}, std::nullopt);
  EXPECT_EQ(strided.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(strided.message()), HasSubstr("it has to be f32, dense and row-major, with sizes [64] on"));
  EXPECT_THAT(std::string(RunOnProgramMemory(*kernel_, arguments, {At(out, {65})}, std::nullopt).message()),
              HasSubstr("with sizes [64]"));
  EXPECT_THAT(std::string(RunOnProgramMemory(*kernel_, arguments, {At(x, {64})}, std::nullopt).message()),
              HasSubstr("shares memory with the input"));
  EXPECT_THAT(x.values(), Each(1));
  EXPECT_THAT(std::string(RunOnProgramMemory(*kernel_, {At(x, {64})}, {At(out, {64})}, std::nullopt).message()),
              HasSubstr("is called with 1 arguments, but takes 3"));
  const Tensor host = Tensor::OnHost(ir::HostArray::Dense(DType::kF32, {64}));
  EXPECT_EQ(RunOnProgramMemory(*kernel_, arguments, {host}, std::nullopt).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProgramCallTest, OpenClHasNoStreamsOfTheProgram) {
  ProgramFloats x(64, 1);
  ProgramFloats out(64);
  EXPECT_EQ(RunOnProgramMemory(*kernel_, {At(x, {64}), At(x, {64}), 1.0}, {At(out, {64})}, 7).code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(ProgramCallTest, AllocatesOutputsThatTheProgramCanRead) {
  ProgramFloats x(64, 1);
  const Arguments arguments = {At(x, {64}), At(x, {64}), 2.0};
  const std::vector<Tensor> outputs = AllocateProgramOutputs(*kernel_, arguments).value();
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(RunOnProgramMemory(*kernel_, arguments, outputs, std::nullopt), absl::OkStatus());
  dlpack::DLManagedTensor* const exported = ToDlpack(outputs[0]).value();
  const auto* const elements = static_cast<const float*>(exported->dl_tensor.data);
  EXPECT_THAT(std::vector<float>(elements, elements + 64), Each(3));
  exported->deleter(exported);
}

// A fake device whose buffers have their handles as addresses. Counts what a captured stream forbids.
class FakeInteropDevice final : public FakeDevice, public device::Interop {
 public:
  explicit FakeInteropDevice(std::vector<std::optional<uint64_t>>* launched_in)
      : FakeDevice(Behaviour{.launch_ms = [this, launched_in](const std::string&) {
          launched_in->push_back(stream_);
          return 1.0;
        }}) {}

  absl::StatusOr<std::unique_ptr<device::Buffer>> Allocate(size_t size_bytes) override {
    ++forbidden_calls;
    return FakeDevice::Allocate(size_bytes);
  }
  absl::Status Synchronize() override {
    ++forbidden_calls;
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<device::Buffer>> Wrap(uint64_t address, size_t size_bytes,
                                                       std::shared_ptr<const void> /*owner*/) override {
    return std::make_unique<ProgramBuffer>(address, size_bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Buffer>> AllocateAddressable(size_t size_bytes) override {
    return Allocate(size_bytes);
  }
  bool on_host() const override { return false; }
  absl::StatusOr<uint64_t> Address(const device::Buffer& buffer) const override { return buffer.handle(); }
  absl::Status Publish(device::Buffer*) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<device::StreamUse>> UseStream(std::optional<uint64_t> stream) override {
    stream_ = stream;
    return std::make_unique<Use>(this);
  }

  int forbidden_calls = 0;
  int uses_ended = 0;

 private:
  class ProgramBuffer final : public device::Buffer {
   public:
    ProgramBuffer(uint64_t address, size_t size_bytes) : address_(address), size_bytes_(size_bytes) {}
    size_t size_bytes() const override { return size_bytes_; }
    uint64_t handle() const override { return address_; }

   private:
    const uint64_t address_;
    const size_t size_bytes_;
  };
  class Use final : public device::StreamUse {
   public:
    explicit Use(FakeInteropDevice* device) : device_(device) {}
    ~Use() override {
      device_->stream_ = std::nullopt;
      ++device_->uses_ended;
    }

   private:
    FakeInteropDevice* const device_;
  };

  std::optional<uint64_t> stream_;
};

TEST_F(ProgramCallTest, LaunchesInTheProgramsStreamWithoutAllocatingOrWaiting) {
  std::vector<std::optional<uint64_t>> launched_in;
  const auto fake = std::make_shared<FakeInteropDevice>(&launched_in);
  device_ = fake;
  ProgramFloats x(64);
  ProgramFloats out(64);
  const Arguments arguments = {At(x, {64}), At(x, {64}), 1.0};
  const Tensor output = At(out, {64});
  for (const std::optional<uint64_t> stream :
       {std::optional<uint64_t>(0), std::optional<uint64_t>(77), std::optional<uint64_t>()}) {
    ASSERT_EQ(RunOnProgramMemory(*kernel_, arguments, {output}, stream), absl::OkStatus());
  }
  EXPECT_THAT(launched_in, ElementsAre(std::optional<uint64_t>(0), std::optional<uint64_t>(77), std::nullopt));
  EXPECT_EQ(fake->uses_ended, 3);
  EXPECT_EQ(fake->compile_count(), 1);
  EXPECT_EQ(fake->forbidden_calls, 0);
  EXPECT_FALSE(RunOnProgramMemory(*kernel_, arguments, {}, 5).ok());
  EXPECT_EQ(fake->uses_ended, 4) << "an error also ends the use of the stream";
}

}  // namespace
}  // namespace telemetry::worker::runtime
