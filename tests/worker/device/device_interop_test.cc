#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/worker/device/device_fixture.h"
#include "worker/device/interop.h"

namespace telemetry::worker::device {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Memory that a kernel changes. At the end of the program, after that of OpenCL and its compiler, which are loaded
// later, waits for the change.
class EndOfProgram {
 public:
  ~EndOfProgram() {
    while (waits && values[0] == 0) std::this_thread::yield();
  }

  bool waits = false;
  alignas(kInteropAlignment) volatile float values[4] = {};
};

EndOfProgram end_of_program;

class DeviceInteropTest : public DeviceTest {
 protected:
  DeviceInteropTest() : interop_(InteropOf(*device_).value()) {}

  std::unique_ptr<Buffer> Addressable(const std::vector<float>& values) {
    std::unique_ptr<Buffer> buffer = interop_->AllocateAddressable(values.size() * sizeof(float)).value();
    EXPECT_EQ(device_->Upload(buffer.get(), 0, AsBytes(values)), absl::OkStatus());
    return buffer;
  }

  // Ends the program with success after queueing a kernel that nobody has compiled before.
  void LaunchAndExit() {
    auto buffer = interop_->Wrap(reinterpret_cast<uint64_t>(&end_of_program.values), 16, nullptr).value();
    const int64_t number = absl::ToUnixMicros(absl::Now());
    auto set = Kernel("set", absl::StrCat("KERNEL set(GLOBAL float* x) { x[0] = ", number, ".0f; }"));
    EXPECT_EQ(set->Launch({}, {buffer.get()}), absl::OkStatus());
    end_of_program.waits = true;
    set.reset();
    buffer.reset();
    device_.reset();
    std::exit(0);
  }

  Interop* const interop_;
};

TEST_F(DeviceInteropTest, AWrappedBufferSharesTheMemory) {
  const std::unique_ptr<Buffer> memory = Addressable(std::vector<float>(8, 1));
  ASSERT_EQ(interop_->Publish(memory.get()), absl::OkStatus());
  const uint64_t address = interop_->Address(*memory).value();
  const std::unique_ptr<Buffer> part = interop_->Wrap(address + 16, 8, nullptr).value();
  EXPECT_EQ(part->size_bytes(), 8u);
  EXPECT_EQ(interop_->Address(*part).value(), address + 16);
  const std::unique_ptr<Function> twice = Kernel("add_one", "KERNEL add_one(GLOBAL float* x) { x[THREAD] += 1.0f; }");
  ASSERT_EQ(twice->Launch({.grid = 1, .threads = 2}, {part.get()}), absl::OkStatus());
  EXPECT_THAT(Values(*part), ElementsAre(2, 2));
  ASSERT_EQ(interop_->Publish(part.get()), absl::OkStatus());
  const std::unique_ptr<Buffer> whole = interop_->Wrap(address, 32, nullptr).value();
  EXPECT_THAT(Values(*whole), ElementsAre(1, 1, 1, 1, 2, 2, 1, 1));
}

TEST_F(DeviceInteropTest, KeepsTheOwnerAsLongAsTheBuffer) {
  const std::unique_ptr<Buffer> memory = Addressable({1, 2, 3, 4});
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = owner;
  std::unique_ptr<Buffer> buffer = interop_->Wrap(interop_->Address(*memory).value(), 16, std::move(owner)).value();
  EXPECT_FALSE(alive.expired());
  std::unique_ptr<Buffer> view = device_->View(buffer.get(), 0, 8).value();
  buffer.reset();
  EXPECT_FALSE(alive.expired()) << "the view uses the memory";
  view.reset();
  EXPECT_TRUE(alive.expired());
}

// Else the kernel would write to memory that the owner has freed. On CUDA the program orders its own work.
TEST_F(DeviceInteropTest, TheOwnerOutlivesQueuedWork) {
  if (!interop_->on_host()) GTEST_SKIP() << "only for memory of the host";
  struct alignas(kInteropAlignment) Memory {
    float values[4] = {};
  };
  Memory memory;
  float at_release = -1;
  const auto release = [&at_release](Memory* released) { at_release = released->values[0]; };
  std::unique_ptr<Buffer> buffer =
      interop_->Wrap(reinterpret_cast<uint64_t>(&memory), sizeof(memory), std::shared_ptr<Memory>(&memory, release))
          .value();
  // A kernel of many milliseconds, whose result is 2.
  const std::unique_ptr<Function> halve =
      Kernel("halve",
             "KERNEL halve(GLOBAL float* x) { float y = x[0];"
             " for (int i = 0; i < 20000000; ++i) y = y * 0.5f + 1.0f; x[0] = y; }");
  ASSERT_EQ(halve->Launch({}, {buffer.get()}), absl::OkStatus());
  buffer.reset();
  EXPECT_NEAR(at_release, 2, 0.01);
  ASSERT_EQ(device_->Synchronize(), absl::OkStatus());
}

// PoCL aborts the program if it compiles a kernel while the program ends.
TEST_F(DeviceInteropTest, TheProgramMayEndAfterALaunch) {
  if (!interop_->on_host()) GTEST_SKIP() << "only for memory of the host";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(LaunchAndExit(), testing::ExitedWithCode(0), "");
}

TEST_F(DeviceInteropTest, RefusesAddressesThatCodeCannotUse) {
  const std::unique_ptr<Buffer> memory = Addressable({1, 2, 3, 4});
  const uint64_t address = interop_->Address(*memory).value();
  const absl::Status unaligned = interop_->Wrap(address + 4, 4, nullptr).status();
  EXPECT_EQ(unaligned.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unaligned.message()), HasSubstr("4 bytes above a multiple of 16"));
  EXPECT_EQ(interop_->Wrap(0, 4, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(interop_->Wrap(0, 0, nullptr).value()->size_bytes(), 0u);
  if (!interop_->on_host()) {
    alignas(16) static float host[4] = {};
    EXPECT_THAT(std::string(interop_->Wrap(reinterpret_cast<uint64_t>(host), 16, nullptr).status().message()),
                HasSubstr("is not CUDA memory"));
  }
}

TEST_F(DeviceInteropTest, RefusesBuffersOfOtherDevices) {
  const std::shared_ptr<Device> other = Open();
  const std::unique_ptr<Buffer> foreign = InteropOf(*other).value()->AllocateAddressable(16).value();
  EXPECT_EQ(interop_->Address(*foreign).status().code(), absl::StatusCode::kInvalidArgument);
}

// 0, the legacy default stream, is the only stream that this test can name without a CUDA library.
TEST_F(DeviceInteropTest, QueuesInAStreamOfTheProgram) {
  if (interop_->on_host()) {
    EXPECT_EQ(interop_->UseStream(0).status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(interop_->UseStream(std::nullopt).ok());
    return;
  }
  const std::unique_ptr<Buffer> memory = Addressable(std::vector<float>(64, 1));
  const std::unique_ptr<Function> add = Kernel("add_one", "KERNEL add_one(GLOBAL float* x) { x[THREAD] += 1.0f; }");
  for (const std::optional<uint64_t> stream : {std::optional<uint64_t>(0), std::optional<uint64_t>()}) {
    const std::unique_ptr<StreamUse> use = interop_->UseStream(stream).value();
    ASSERT_EQ(add->Launch({.grid = 1, .threads = 64}, {memory.get()}), absl::OkStatus());
    ASSERT_EQ(device_->Synchronize(), absl::OkStatus());
  }
  EXPECT_THAT(Values(*memory), Each(3));
}

}  // namespace
}  // namespace telemetry::worker::device
