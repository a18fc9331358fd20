#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/worker/device/device_fixture.h"

namespace telemetry::worker::device {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using DeviceMemoryTest = DeviceTest;

TEST_F(DeviceMemoryTest, GivesBackWhatWasUploaded) {
  std::vector<float> values(100003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5f;
  EXPECT_EQ(Values(*MakeBuffer(values)), values);
}

TEST_F(DeviceMemoryTest, UploadsAndDownloadsPartsOfABuffer) {
  const std::unique_ptr<Buffer> buffer = MakeBuffer({1, 2, 3, 4});
  ASSERT_EQ(device_->Upload(buffer.get(), 4, AsBytes({20, 30})), absl::OkStatus());
  std::vector<float> tail(2);
  ASSERT_EQ(device_->Download(buffer.get(), 8, AsWritableBytes(&tail)), absl::OkStatus());
  EXPECT_THAT(tail, ElementsAre(30, 4));
  EXPECT_THAT(Values(*buffer), ElementsAre(1, 20, 30, 4));
}

TEST_F(DeviceMemoryTest, RefusesWhatLiesBeyondTheBuffer) {
  const std::unique_ptr<Buffer> buffer = MakeBuffer({1, 2});
  const std::unique_ptr<Buffer> larger = MakeBuffer({1, 2, 3});
  std::vector<float> two(2);
  const absl::Status upload = device_->Upload(buffer.get(), 4, AsBytes({1, 2}));
  EXPECT_EQ(upload.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(upload.message()), HasSubstr("8 bytes at offset 4 of a buffer of 8 bytes"));
  EXPECT_EQ(device_->Download(buffer.get(), 4, AsWritableBytes(&two)).code(), absl::StatusCode::kOutOfRange);
  // The end of this range overflows.
  EXPECT_EQ(device_->Download(buffer.get(), SIZE_MAX - 3, AsWritableBytes(&two)).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Copy(buffer.get(), larger.get(), 12).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Copy(larger.get(), buffer.get(), 12).code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(Values(*buffer), ElementsAre(1, 2));
}

TEST_F(DeviceMemoryTest, CopiesTheFirstBytes) {
  const std::unique_ptr<Buffer> from = MakeBuffer({1, 2, 3});
  const std::unique_ptr<Buffer> to = MakeBuffer({7, 8, 9});
  ASSERT_EQ(device_->Copy(to.get(), from.get(), 8), absl::OkStatus());
  EXPECT_THAT(Values(*to), ElementsAre(1, 2, 9));
  EXPECT_EQ(device_->Copy(to.get(), to.get(), 12), absl::OkStatus());
  EXPECT_THAT(Values(*to), ElementsAre(1, 2, 9));
}

TEST_F(DeviceMemoryTest, FillsEveryByte) {
  const std::unique_ptr<Buffer> buffer = *device_->Allocate(1021);  // an odd size
  ASSERT_EQ(device_->Fill(buffer.get(), 0xa5), absl::OkStatus());
  std::vector<std::byte> bytes(1021);
  ASSERT_EQ(device_->Download(buffer.get(), 0, absl::MakeSpan(bytes)), absl::OkStatus());
  EXPECT_THAT(bytes, Each(std::byte{0xa5}));
}

TEST_F(DeviceMemoryTest, HasEmptyBuffers) {
  const std::unique_ptr<Buffer> empty = *device_->Allocate(0);
  const std::unique_ptr<Buffer> other = *device_->Allocate(0);
  EXPECT_EQ(empty->size_bytes(), 0u);
  EXPECT_NE(empty->handle(), other->handle());
  EXPECT_EQ(device_->Upload(empty.get(), 0, {}), absl::OkStatus());
  EXPECT_EQ(device_->Download(empty.get(), 0, {}), absl::OkStatus());
  EXPECT_EQ(device_->Fill(empty.get(), 1), absl::OkStatus());
  EXPECT_EQ(device_->Copy(other.get(), empty.get(), 0), absl::OkStatus());
}

TEST_F(DeviceMemoryTest, ViewsShareTheMemoryOfTheirPart) {
  std::vector<float> values(3 * kViewAlignment / sizeof(float), 1);
  std::unique_ptr<Buffer> whole = MakeBuffer(values);
  const std::unique_ptr<Buffer> view = device_->View(whole.get(), kViewAlignment, 12).value();
  EXPECT_EQ(view->size_bytes(), 12u);
  ASSERT_EQ(device_->Upload(view.get(), 4, AsBytes({2})), absl::OkStatus());
  EXPECT_THAT(Values(*view), ElementsAre(1, 2, 1));
  values[kViewAlignment / sizeof(float) + 1] = 2;
  EXPECT_EQ(Values(*whole), values);
  ASSERT_EQ(device_->Fill(view.get(), 0), absl::OkStatus());
  for (size_t i = 0; i < 3; ++i) values[kViewAlignment / sizeof(float) + i] = 0;
  EXPECT_EQ(Values(*whole), values) << "filling a view must not change other memory";
  whole.reset();
  EXPECT_THAT(Values(*view), ElementsAre(0, 0, 0)) << "the view keeps the memory alive";
}

TEST_F(DeviceMemoryTest, KernelsWriteThroughViews) {
  const std::unique_ptr<Buffer> whole = MakeBuffer(std::vector<float>(2 * kViewAlignment / sizeof(float), 1));
  const std::unique_ptr<Buffer> view = device_->View(whole.get(), kViewAlignment, 8).value();
  const std::unique_ptr<Function> twice =
      Kernel("twice", "KERNEL twice(GLOBAL float* x) { x[THREAD] = x[THREAD] + 1.0f; }");
  ASSERT_EQ(twice->Launch({.grid = 1, .threads = 2}, {view.get()}), absl::OkStatus());
  EXPECT_THAT(Values(*view), ElementsAre(2, 2));
  const std::vector<float> all = Values(*whole);
  EXPECT_EQ(all[0], 1);
  EXPECT_EQ(all[kViewAlignment / sizeof(float) + 2], 1);
}

TEST_F(DeviceMemoryTest, RefusesViewsBeyondTheBufferOrBetweenAlignments) {
  const std::unique_ptr<Buffer> whole = *device_->Allocate(kViewAlignment + 8);
  EXPECT_EQ(device_->View(whole.get(), kViewAlignment, 9).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->View(whole.get(), 8, 8).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->View(nullptr, 0, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->View(whole.get(), kViewAlignment, 0).value()->size_bytes(), 0u);
}

TEST_F(DeviceMemoryTest, SaysWhenMemoryIsExhausted) {
  const absl::StatusOr<std::unique_ptr<Buffer>> buffer = device_->Allocate(size_t{1} << 50);
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted) << buffer.status();
  EXPECT_THAT(Values(*MakeBuffer({1})), ElementsAre(1)) << "the device works after a failed allocation";
}

TEST_F(DeviceMemoryTest, RefusesAnotherDevicesBuffers) {
  const std::shared_ptr<Device> other = Open();
  const std::unique_ptr<Buffer> foreign = BufferOn(other.get(), {1});
  const std::unique_ptr<Buffer> own = MakeBuffer({2});
  EXPECT_EQ(device_->Upload(foreign.get(), 0, AsBytes({3})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Copy(own.get(), foreign.get(), 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Fill(nullptr, 0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ValuesOn(other.get(), *foreign), ElementsAre(1));
}

TEST_F(DeviceMemoryTest, BuffersKeepWhatTheyNeedOfTheDevice) {
  const std::unique_ptr<Buffer> buffer = MakeBuffer({1});
  device_.reset();
  EXPECT_EQ(buffer->size_bytes(), 4u);  // the buffer is released after this line
}

}  // namespace
}  // namespace telemetry::worker::device
