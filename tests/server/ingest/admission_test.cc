#include "server/ingest/admission.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

TEST(Admission, WhoDoesNotFitWaitsForRoom) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification first, second;
  admission.Admit("a", {80}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    first.Notify();
  });
  EXPECT_TRUE(first.HasBeenNotified()) << "there is room";
  admission.Admit("a", {80}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    second.Notify();
  });
  EXPECT_FALSE(second.HasBeenNotified());
  admission.Release("a", {80});
  second.WaitForNotification();
}

TEST(Admission, NobodyOvertakesWhoWaits) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  admission.Admit("a", {60}, 1, [](const absl::Status&) {});
  admission.Admit("a", {90}, 1, [&](const absl::Status&) { large.Notify(); });
  admission.Admit("a", {2}, 1, [&](const absl::Status&) {
    EXPECT_TRUE(large.HasBeenNotified());
    small.Notify();
  });
  EXPECT_FALSE(small.HasBeenNotified());
  admission.Release("a", {60});
  large.WaitForNotification();
  admission.Release("a", {90});
  small.WaitForNotification();
}

TEST(Admission, ASmallBatchWaitsForNoLargeOnes) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 6400, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  admission.Admit("a", {5600}, 1, [](const absl::Status&) {});
  admission.Admit("a", {5600}, 1, [&](const absl::Status&) { large.Notify(); });
  admission.Admit("a", {100}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    small.Notify();
  });
  EXPECT_TRUE(small.HasBeenNotified()) << "the small batch waits for a large one";
  EXPECT_FALSE(large.HasBeenNotified());
  EXPECT_EQ(admission.state().used_bytes, 5700u);
  admission.Release("a", {100});
  admission.Release("a", {5600});
  large.WaitForNotification();
}

TEST(Admission, WhoWaitsTooLongIsTurnedAway) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Milliseconds(20)});
  absl::Notification answered;
  admission.Admit("a", {100}, 1, [](const absl::Status&) {});
  admission.Admit("a", {2}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    answered.Notify();
  });
  answered.WaitForNotification();
}

TEST(Admission, WhoFindsNoRoomToWaitIsTurnedAwayAtOnce) {
  ingest::Admission admission(
      call::Limits{.in_flight_bytes = 100, .waiting_bytes = 50, .admission_timeout = absl::Minutes(1)});
  admission.Admit("a", {100}, 1000, [](const absl::Status&) {});
  absl::Notification alone;
  admission.Admit("a", {2}, 60, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << "a single batch may wait although it is larger than the room";
    alone.Notify();
  });
  absl::Status refused;
  admission.Admit("a", {2}, 1, [&](const absl::Status& status) { refused = status; });
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(admission.state().waiting_bytes, 60u);
  EXPECT_EQ(admission.state().turned_away, 1u);
  admission.Release("a", {100});
  alone.WaitForNotification();
  EXPECT_EQ(admission.state().waiting_bytes, 0u);
}

TEST(Admission, ABatchLargerThanTheBudgetIsLetInAlone) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100});
  absl::Notification admitted;
  admission.Admit("a", {1000}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    admitted.Notify();
  });
  EXPECT_TRUE(admitted.HasBeenNotified());
}

// Counts admitted and refused batches.
class Counter {
 public:
  ingest::Admission::Done Done() {
    return [this](const absl::Status& status) { ++(status.ok() ? admitted : refused); };
  }
  std::atomic<int> admitted = 0;
  std::atomic<int> refused = 0;
};

TEST(Admission, ASenderThatHasItsShareHoldsUpNobodyElse) {
  // Large batches have five eighths of the budget: 700 bytes.
  ingest::Admission admission(
      call::Limits{.in_flight_bytes = 1120, .waiting_bytes = 100, .admission_timeout = absl::Minutes(1)});
  Counter greedy;
  for (int i = 0; i < 200; ++i) admission.Admit("greedy", {105}, 10, greedy.Done());
  EXPECT_EQ(greedy.admitted, 5) << "three quarters of it";
  EXPECT_EQ(greedy.refused, 185) << "ten batches wait";
  absl::Notification admitted;
  admission.Admit("modest", {175}, 50, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    admitted.Notify();
  });
  EXPECT_TRUE(admitted.WaitForNotificationWithTimeout(absl::Seconds(30))) << "the batch waits for another sender";
  EXPECT_EQ(greedy.admitted, 5);
  EXPECT_EQ(greedy.refused, 190) << "five waiting batches made room";
}

TEST(Admission, IndivisibleBatchesHoldUpNoOthers) {
  ingest::Admission admission(call::Limits{.admission_timeout = absl::Minutes(1)});
  const ingest::Admission::Need indivisible = {.bytes = uint64_t{1} << 20, .is_indivisible = true};
  while (admission.TryAdmit("greedy", indivisible)) {
  }
  Counter waiting;
  admission.Admit("greedy", indivisible, 1, waiting.Done());
  EXPECT_EQ(waiting.admitted, 0);
  EXPECT_TRUE(admission.TryAdmit("greedy", {indivisible.bytes})) << "a divisible batch of the same size";
  absl::Notification admitted;
  admission.Admit("other", indivisible, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    admitted.Notify();
  });
  admitted.WaitForNotification();  // a sender's share leaves room for others
}

TEST(Admission, TwoSendersDoNotDisplaceEachOther) {
  ingest::Admission admission(
      call::Limits{.in_flight_bytes = 100, .waiting_bytes = 100, .admission_timeout = absl::Minutes(1)});
  Counter all, a, b, c;
  admission.Admit("other", {100}, 1, all.Done());
  for (int i = 0; i < 20; ++i) admission.Admit("a", {50}, 10, a.Done());
  EXPECT_EQ(a.refused, 10);
  for (int i = 0; i < 20; ++i) admission.Admit("b", {50}, 10, b.Done());
  EXPECT_EQ(a.refused, 15);
  EXPECT_EQ(b.refused, 15);
  admission.Admit("c", {50}, 10, c.Done());
  EXPECT_EQ(c.refused, 1);
}

TEST(Admission, ASendersSmallerBatchDoesNotOvertakeItsLargerOne) {
  // A sender's share of the part for divisible batches is 45 bytes.
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  admission.Admit("a", {30}, 1, [](const absl::Status&) {});
  admission.Admit("a", {40}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    large.Notify();
  });
  admission.Admit("a", {5}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(large.HasBeenNotified());
    small.Notify();
  });
  EXPECT_FALSE(small.HasBeenNotified()) << "it would have room";
  admission.Release("a", {30});
  small.WaitForNotification();
}

TEST(Admission, WhoWaitsAtTheEndIsTurnedAway) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  admission.Admit("a", {100}, 1, [](const absl::Status&) {});
  absl::Status waiting, late;
  admission.Admit("a", {2}, 1, [&](const absl::Status& status) { waiting = status; });
  admission.Stop();
  EXPECT_TRUE(absl::IsUnavailable(waiting)) << waiting;
  admission.Admit("b", {1}, 1, [&](const absl::Status& status) { late = status; });
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
}

}  // namespace
}  // namespace telemetry::collector
