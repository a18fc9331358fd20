// Tests a disk that fills up under load and is freed again: acknowledged records are stored, and every record is stored
// exactly once in the end.
//
// TELEMETRY_FAULTS=100 fills the disk 10 times in each test (default: twice; at least once).

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/small_disk.h"
#include "tests/faults/fault_test.h"

namespace telemetry::faults {
namespace {

using client::SmallDisk;

constexpr uint64_t kMib = uint64_t{1} << 20;
constexpr char kTurnedAway[] = "rejecting records";
constexpr char kTakenAgain[] = "accepting records";

class DiskTest : public FaultTest {
 protected:
  void SetUp() override {
    if (!disk_.mounted())
      GTEST_SKIP() << "no file system may be mounted here: run it as root, outside a container without CAP_SYS_ADMIN";
  }
  ~DiskTest() override { collector_.reset(); }

  std::string db() const override { return File("disk/dataset.db"); }
  std::string BallastPath() const { return File("disk/ballast"); }
  // Returns the number of rounds; one round counts as ten faults.
  static int Rounds() { return std::max(1, Faults(20) / 10); }
  void LeaveFree(uint64_t bytes) {
    std::ofstream(BallastPath()).flush();
    const uint64_t free_bytes = disk_.free_bytes();
    if (free_bytes > bytes) std::ofstream(BallastPath(), std::ios::binary) << std::string(free_bytes - bytes, 'x');
  }
  void MakeRoom() {
    std::filesystem::remove(BallastPath());
    disk_.MakeRoom();
  }

  int turned_away_ = 0;  // the number of refusals in the log so far
  SmallDisk disk_{File("disk"), 32 * kMib};
};

TEST_F(DiskTest, AGuardedDiskFillsUpAndEverythingGoesOnWhenThereIsRoom) {
  const std::vector<std::string> flags = {"--keep-free", "6MiB", "--retry-delay", "0.1"};
  StartCollector(flags);
  StartProducers();
  for (int round = 1; round <= Rounds() && !HasFailure(); ++round) {
    AwaitProgress();
    LeaveFree(3 * kMib);
    ASSERT_TRUE(AwaitLog(kTurnedAway, ++turned_away_)) << LogText();
    // Another writer fills the rest of the disk. Records that were accepted before are stored by now.
    disk_.Fill();
    EXPECT_GT(Query("SELECT count(*) FROM measurements"), 0) << "readers are served";
    if (round % 2 == 0) {
      collector_->Kill();
      ExpectAckedIsStored();
      StartCollector(flags);
      ASSERT_TRUE(AwaitLog(kTurnedAway, ++turned_away_)) << LogText();
    }
    MakeRoom();
    AwaitProgress();
  }
  EXPECT_THAT(LogText(), testing::HasSubstr(kTakenAgain));
  ExpectEverythingStoredOnce();
}

TEST_F(DiskTest, WithoutTheGuardACommitFindsItFullAndTheNextCollectorGoesOn) {
  const std::vector<std::string> flags = {"--keep-free", "0"};
  StartCollector(flags);
  StartProducers();
  for (int round = 1; round <= Rounds() && !HasFailure(); ++round) {
    AwaitProgress();
    disk_.Fill();
    EXPECT_EQ(collector_->AwaitEnd(), 1);
    EXPECT_TRUE(AwaitLog("the dataset failed; exiting without acknowledging", round)) << LogText();
    ExpectAckedIsStored();
    MakeRoom();
    StartCollector(flags);
  }
  AwaitProgress();
  ExpectEverythingStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
