#include <atomic>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "tests/client/producer_fixture.h"
#include "tests/client/small_disk.h"

namespace telemetry::client {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A producer with its spool on a small disk of its own.
class FullDiskTest : public ProducerTest {
 protected:
  static constexpr uint64_t kDiskBytes = uint64_t{256} << 10;

  void SetUp() override {
    if (!disk_.mounted())
      GTEST_SKIP() << "no file system may be mounted here: run it as root, outside a container without CAP_SYS_ADMIN";
  }
  // Appends until the disk is full; returns the number of appended records.
  int AppendUntilItWaits(int count, std::thread* appender) {
    *appender = std::thread([this, count] {
      for (int i = 0; i < count; ++i) {
        Append(std::string(1000, 'x'));
        ++appended_;
      }
    });
    AwaitNotice("No space left on device");
    return appended_;
  }

  SmallDisk disk_{options_.spool_dir, kDiskBytes};
  std::atomic<int> appended_ = 0;
};

TEST_F(FullDiskTest, RecordsWaitForTheCollectorAndAllArrive) {
  Open();
  std::thread appender;
  EXPECT_LT(AppendUntilItWaits(1000, &appender), 256);
  collector_.Start();
  appender.join();
  Drain();
  EXPECT_EQ(collector_.AwaitStored(1000).size(), 1000);
  EXPECT_EQ(producer_->stats().appended_seq, 1000);
  AwaitNotice(options_.spool_dir);
  AwaitNotice("--state-dir");
  EXPECT_THAT(notices(), Contains(HasSubstr("No space left")).Times(1));
}

TEST_F(FullDiskTest, RecordsWaitUntilSomebodyElseMakesRoom) {
  Open();
  Append("a");
  disk_.Fill();
  std::thread appender;
  AppendUntilItWaits(20, &appender);
  disk_.MakeRoom();
  appender.join();
  EXPECT_EQ(producer_->stats().appended_seq, 21);
}

TEST_F(FullDiskTest, TheNextProcessDeliversWhatIsThere) {
  Open();
  Append("a");
  Append("b");
  producer_.reset();
  disk_.Fill();
  ASSERT_EQ(disk_.free_bytes(), 0);
  Open();
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
}

TEST_F(FullDiskTest, WithNothingToDeliverItIsAnErrorThatSaysWhatToDo) {
  collector_.Start();
  Open();
  Append("a");
  Drain();
  disk_.Fill();
  const absl::Status full = producer_->Append(MakeRecord(std::string(kDiskBytes, 'x')));
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), AllOf(HasSubstr(options_.spool_dir), HasSubstr("--state-dir")));
  disk_.MakeRoom();
  Append("b");
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
}

TEST_F(FullDiskTest, ANewSpoolThatFindsNoRoomNamesItsPlace) {
  disk_.Fill();
  const absl::Status full = Producer::Open(options_).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), AllOf(HasSubstr(options_.spool_dir + "/meta"), HasSubstr("--state-dir")));
}

}  // namespace
}  // namespace telemetry::client
