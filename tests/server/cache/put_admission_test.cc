#include "server/cache/put_admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

namespace telemetry::cache {
namespace {

constexpr uint64_t kKiB = 1024;

class PutAdmissionTest : public ::testing::Test {
 protected:
  bool Takes(const std::string& sender, uint64_t bytes) { return admission_.Take(sender, bytes, now_).ok(); }
  // Takes room and gives it back, as for a put that was stored.
  bool Puts(const std::string& sender, uint64_t bytes) {
    if (!Takes(sender, bytes)) return false;
    admission_.Release(sender, bytes);
    return true;
  }
  void Pass(std::chrono::milliseconds time) { now_ += time; }

  SteadyTime now_ = SteadyNow();
  PutAdmission admission_{{.waiting_bytes = 400 * kKiB,
                           .bytes_per_second = 100 * kKiB,
                           .burst_bytes = 300 * kKiB,
                           .least_bytes = 10 * kKiB}};
};

TEST_F(PutAdmissionTest, ASenderIsHeldToItsRateAfterABurst) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Puts("a", 100 * kKiB));
  EXPECT_FALSE(Puts("a", 100 * kKiB));
  EXPECT_TRUE(Puts("b", 100 * kKiB));
  Pass(std::chrono::milliseconds(500));
  EXPECT_FALSE(Puts("a", 100 * kKiB));
  EXPECT_TRUE(Puts("a", 50 * kKiB));
  EXPECT_EQ(admission_.refused(), 2u);
}

TEST_F(PutAdmissionTest, ASmallPutCountsForTheLeastBytes) {
  int puts = 0;
  while (Puts("a", 1)) ++puts;
  EXPECT_EQ(puts, 30);
}

TEST_F(PutAdmissionTest, ASenderHasHalfOfTheWaitingPuts) {
  EXPECT_TRUE(Takes("a", 200 * kKiB));
  EXPECT_FALSE(Takes("a", 10 * kKiB));
  EXPECT_TRUE(Takes("b", 200 * kKiB));
  // A sender without waiting puts waits for the others when the room is used up.
  EXPECT_FALSE(Takes("c", 10 * kKiB));
  admission_.Release("a", 200 * kKiB);
  EXPECT_TRUE(Takes("c", 10 * kKiB));
  EXPECT_TRUE(Takes("a", 10 * kKiB));
}

TEST_F(PutAdmissionTest, AFullSenderKeepsItsRate) {
  EXPECT_TRUE(Takes("a", 200 * kKiB));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Takes("a", 10 * kKiB));
  admission_.Release("a", 200 * kKiB);
  EXPECT_TRUE(Takes("a", 100 * kKiB));
}

TEST_F(PutAdmissionTest, ManySendersAreForgottenWhenTheirBucketsAreFull) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5000; ++i) EXPECT_TRUE(Puts(absl::StrCat(round, " ", i), 10 * kKiB));
    Pass(std::chrono::seconds(10));
  }
}

}  // namespace
}  // namespace telemetry::cache
