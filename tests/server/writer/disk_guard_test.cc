#include "server/writer/disk_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/server/access/log_capture.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMib = uint64_t{1} << 20;

// A guard that keeps 80 MiB free on a disk whose free space the test sets. Only the test triggers checks.
class DiskGuardTest : public ::testing::Test {
 protected:
  writer::DiskGuardOptions Options(uint64_t keep_free_bytes) {
    return {.path = folder_.File("dataset.db"),
            .keep_free_bytes = keep_free_bytes,
            .retry_delay = absl::Seconds(3),
            .interval = absl::InfiniteDuration(),
            .free_bytes = [this](const std::string&) -> absl::StatusOr<uint64_t> {
              ++looks_;
              if (broken_) return absl::UnavailableError("no such disk");
              return free_bytes_;
            }};
  }
  bool HasRoomWith(uint64_t free_mib) {
    free_bytes_ = free_mib * kMib;
    guard_.Look();
    return guard_.Check().ok();
  }

  TempFolder folder_;
  std::atomic<uint64_t> free_bytes_ = 1000 * kMib;
  std::atomic<bool> broken_ = false;
  std::atomic<int> looks_ = 0;
  writer::DiskGuard guard_{Options(80 * kMib)};
};

TEST_F(DiskGuardTest, BelowWhatIsKeptNothingIsTakenUntilThereIsMore) {
  EXPECT_TRUE(HasRoomWith(80));
  EXPECT_FALSE(HasRoomWith(79));
  EXPECT_FALSE(HasRoomWith(80)) << "the limit itself is not enough room to accept records again";
  EXPECT_FALSE(HasRoomWith(89));
  EXPECT_TRUE(HasRoomWith(90));
  EXPECT_TRUE(HasRoomWith(80));
  EXPECT_FALSE(HasRoomWith(0));
}

TEST_F(DiskGuardTest, WhoIsTurnedAwayLearnsWhyAndWhen) {
  ASSERT_FALSE(HasRoomWith(12));
  const absl::Status status = guard_.Check();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(" at /"), HasSubstr("12.0 MiB free"),
                                                   HasSubstr("80.0 MiB (--keep-free)"), HasSubstr("free some space")));
  EXPECT_TRUE(status.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value());
}

TEST_F(DiskGuardTest, EachChangeIsToldAndLoggedOnce) {
  const access::LogCapture log;
  std::vector<bool> changes;
  guard_.Start([&changes](bool has_room) { changes.push_back(has_room); });
  EXPECT_THAT(changes, IsEmpty()) << "the disk had room from the start";
  for (const uint64_t mib : {79, 60, 85, 100, 80, 100, 10}) HasRoomWith(mib);
  guard_.Stop();
  EXPECT_THAT(changes, ElementsAre(false, true, false));
  const std::string text = log.text();
  EXPECT_EQ(log.Count("rejecting records"), 2u) << text;
  EXPECT_EQ(log.Count("accepting records"), 1u) << text;
}

TEST_F(DiskGuardTest, ItLooksByItself) {
  writer::DiskGuardOptions options = Options(80 * kMib);
  options.interval = absl::Milliseconds(1);
  free_bytes_ = 0;
  writer::DiskGuard guard(options);
  absl::Notification full;
  absl::Notification room;
  guard.Start([&](bool has_room) { (has_room ? room : full).Notify(); });
  EXPECT_TRUE(full.HasBeenNotified()) << "Start() itself checks the disk";
  free_bytes_ = 100 * kMib;
  room.WaitForNotification();
  guard.Stop();
  const int looks = looks_;
  guard.Look();
  EXPECT_EQ(looks_, looks + 1) << "no thread checks the disk after Stop()";
}

TEST_F(DiskGuardTest, ADiskThatCannotBeLookedAtLeavesAllAsItWas) {
  ASSERT_FALSE(HasRoomWith(1));
  EXPECT_EQ(guard_.state().free_bytes, kMib);
  broken_ = true;
  EXPECT_FALSE(HasRoomWith(1000));
  EXPECT_EQ(guard_.state().free_bytes, std::nullopt);
  broken_ = false;
  EXPECT_TRUE(HasRoomWith(1000));
}

TEST_F(DiskGuardTest, CountsWhomItTurnsAway) {
  HasRoomWith(1000);
  HasRoomWith(1);
  guard_.Check(5).IgnoreError();
  EXPECT_EQ(guard_.state().turned_away, 6u);
  EXPECT_EQ(guard_.state().keep_free_bytes, 80 * kMib);
}

TEST_F(DiskGuardTest, WithZeroItIsOff) {
  writer::DiskGuard guard(Options(0));
  free_bytes_ = 0;
  guard.Look();
  EXPECT_TRUE(guard.Check().ok());
}

TEST_F(DiskGuardTest, ARealDiskHasSomethingFree) {
  EXPECT_GT(writer::FreeDiskBytes(folder_.File("dataset.db")).value(), 0u);
  EXPECT_GT(writer::FreeDiskBytes("dataset.db").value(), 0u) << "the disk of the current folder";
  EXPECT_FALSE(writer::FreeDiskBytes(folder_.File("no such folder/dataset.db")).ok());
}

}  // namespace
}  // namespace telemetry::collector
