#include "worker/device/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace telemetry::worker::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(OpenDeviceTest, OpensEachThatIsListed) {
  const std::vector<DeviceProperties> devices = ListDevices();
  ASSERT_FALSE(devices.empty());
  for (const DeviceProperties& properties : devices) {
    const std::shared_ptr<Device> device = OpenDevice(DeviceId(properties)).value();
    EXPECT_EQ(device->id(), DeviceId(properties));
    EXPECT_EQ(device->properties().name, properties.name);
    EXPECT_FALSE(properties.name.empty());
    EXPECT_GT(properties.compute_units, 0);
    EXPECT_GE(properties.max_threads_per_block, 64);
    EXPECT_GE(properties.shared_bytes_per_block, 16384u);
    EXPECT_GT(properties.global_bytes, 0u);
  }
}

TEST(OpenDeviceTest, NoNameTakesTheFirst) { EXPECT_EQ(OpenDevice("").value()->id(), DeviceId(ListDevices().front())); }

TEST(OpenDeviceTest, SaysWhatIsThere) {
  for (const char* id : {"opencl:99", "cuda:99", "cuda", "OPENCL:0", "opencl:00"}) {
    const absl::Status status = OpenDevice(id).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << id;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(id), HasSubstr("opencl:0"))) << id;
  }
}

}  // namespace
}  // namespace telemetry::worker::device
