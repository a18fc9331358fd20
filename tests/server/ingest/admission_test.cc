#include "server/ingest/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

void Admit(ingest::Admission& admission, const std::string& sender, ingest::Admission::Need need,
           uint64_t message_bytes, ingest::Admission::Done done) {
  admission.Admit(sender, need, message_bytes, std::move(done));
}

bool TryAdmit(ingest::Admission& admission, const std::string& sender, ingest::Admission::Need need) {
  return admission.TryAdmit(sender, need);
}

TEST(Admission, WhoDoesNotFitWaitsForRoom) {
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification first, second;
  Admit(admission, "a", {80}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    first.Notify();
  });
  EXPECT_TRUE(first.HasBeenNotified()) << "there is room";
  Admit(admission, "a", {80}, 1, [&](const absl::Status& status) {
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
  Admit(admission, "a", {60}, 1, [](const absl::Status&) {});
  Admit(admission, "a", {90}, 1, [&](const absl::Status&) { large.Notify(); });
  Admit(admission, "a", {2}, 1, [&](const absl::Status&) {
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
  Admit(admission, "a", {5600}, 1, [](const absl::Status&) {});
  Admit(admission, "a", {5600}, 1, [&](const absl::Status&) { large.Notify(); });
  Admit(admission, "a", {100}, 1, [&](const absl::Status& status) {
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
  Admit(admission, "a", {100}, 1, [](const absl::Status&) {});
  Admit(admission, "a", {2}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    answered.Notify();
  });
  answered.WaitForNotification();
}

TEST(Admission, WhoFindsNoRoomToWaitIsTurnedAwayAtOnce) {
  ingest::Admission admission(
      call::Limits{.in_flight_bytes = 100, .waiting_bytes = 50, .admission_timeout = absl::Minutes(1)});
  Admit(admission, "a", {100}, 1000, [](const absl::Status&) {});
  absl::Notification alone;
  Admit(admission, "a", {2}, 60, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << "a single batch may wait although it is larger than the room";
    alone.Notify();
  });
  absl::Status refused;
  Admit(admission, "a", {2}, 1, [&](const absl::Status& status) { refused = status; });
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
  Admit(admission, "a", {1000}, 1, [&](const absl::Status& status) {
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
  for (int i = 0; i < 200; ++i) Admit(admission, "greedy", {105}, 10, greedy.Done());
  EXPECT_EQ(greedy.admitted, 5) << "three quarters of it";
  EXPECT_EQ(greedy.refused, 185) << "ten batches wait";
  absl::Notification admitted;
  Admit(admission, "modest", {175}, 50, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    admitted.Notify();
  });
  EXPECT_TRUE(admitted.WaitForNotificationWithTimeout(absl::Seconds(30))) << "the batch waits for another sender";
  EXPECT_EQ(greedy.admitted, 5);
  EXPECT_EQ(greedy.refused, 190) << "five waiting batches made room";
}

TEST(Admission, IndivisibleBatchesHoldUpNoOthers) {
  ingest::Admission admission(call::Limits{.admission_timeout = absl::Minutes(1)});
  ingest::Admission::Need indivisible = {uint64_t{1} << 20, /*may_be_held=*/true, "producer"};
  while (TryAdmit(admission, "greedy", indivisible)) {
  }
  Counter waiting;
  Admit(admission, "greedy", indivisible, 1, waiting.Done());
  EXPECT_EQ(waiting.admitted, 0);
  EXPECT_TRUE(TryAdmit(admission, "greedy", {indivisible.bytes})) << "a divisible batch of the same size";
  absl::Notification admitted;
  Admit(admission, "other", indivisible, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    admitted.Notify();
  });
  admitted.WaitForNotification();  // a sender's share leaves room for others
}

// The writer holds them back, too, so they must not use up the room of other producers.
TEST(Admission, BatchesBehindAnIndivisibleOneUseItsPartOfTheBudget) {
  const call::Limits limits{.admission_timeout = absl::Minutes(1)};
  ingest::Admission admission(limits);
  ingest::Admission::Need indivisible = {uint64_t{1} << 20, /*may_be_held=*/true, "held"};
  ASSERT_TRUE(admission.TryAdmit("sender", indivisible));
  const ingest::Admission::Need small = {1000, /*may_be_held=*/false, "held"};
  uint64_t behind = 0;
  while (TryAdmit(admission, "sender", small)) ++behind;
  EXPECT_GT(behind, 1000u);
  EXPECT_LT((uint64_t{1} << 20) + behind * 1000, limits.in_flight_bytes / 4);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(TryAdmit(admission, "sender", {1000, /*may_be_held=*/false, "another producer"}));
  }
  ingest::Admission::Need last = small;
  last.may_be_held = true;
  for (; behind > 0; --behind) admission.Release("sender", last);
  admission.Release("sender", indivisible);
  ingest::Admission::Need next = small;
  EXPECT_TRUE(admission.TryAdmit("sender", next));
  EXPECT_FALSE(next.may_be_held) << "nothing of the producer is held any more";
}

TEST(Admission, TwoSendersDoNotDisplaceEachOther) {
  ingest::Admission admission(
      call::Limits{.in_flight_bytes = 100, .waiting_bytes = 100, .admission_timeout = absl::Minutes(1)});
  Counter all, a, b, c;
  Admit(admission, "other", {100}, 1, all.Done());
  for (int i = 0; i < 20; ++i) Admit(admission, "a", {50}, 10, a.Done());
  EXPECT_EQ(a.refused, 10);
  for (int i = 0; i < 20; ++i) Admit(admission, "b", {50}, 10, b.Done());
  EXPECT_EQ(a.refused, 15);
  EXPECT_EQ(b.refused, 15);
  Admit(admission, "c", {50}, 10, c.Done());
  EXPECT_EQ(c.refused, 1);
}

TEST(Admission, ASendersSmallerBatchDoesNotOvertakeItsLargerOne) {
  // A sender's share of the part for divisible batches is 45 bytes.
  ingest::Admission admission(call::Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  Admit(admission, "a", {30}, 1, [](const absl::Status&) {});
  Admit(admission, "a", {40}, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    large.Notify();
  });
  Admit(admission, "a", {5}, 1, [&](const absl::Status& status) {
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
  Admit(admission, "a", {100}, 1, [](const absl::Status&) {});
  absl::Status waiting, late;
  Admit(admission, "a", {2}, 1, [&](const absl::Status& status) { waiting = status; });
  admission.Stop();
  EXPECT_TRUE(absl::IsUnavailable(waiting)) << waiting;
  Admit(admission, "b", {1}, 1, [&](const absl::Status& status) { late = status; });
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
}

}  // namespace
}  // namespace telemetry::collector
