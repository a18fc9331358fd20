#include "server/collector/admission.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

TEST(Admission, WhoDoesNotFitWaitsForRoom) {
  Admission admission(Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification first, second;
  admission.Admit(80, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    first.Notify();
  });
  EXPECT_TRUE(first.HasBeenNotified()) << "there was room at once";
  admission.Admit(80, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    second.Notify();
  });
  EXPECT_FALSE(second.HasBeenNotified());
  admission.Release(80);
  second.WaitForNotification();
}

TEST(Admission, NobodyOvertakesWhoWaits) {
  Admission admission(Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  admission.Admit(60, 1, [](const absl::Status&) {});
  admission.Admit(80, 1, [&](const absl::Status&) { large.Notify(); });
  admission.Admit(2, 1, [&](const absl::Status&) {
    EXPECT_TRUE(large.HasBeenNotified());
    small.Notify();
  });
  EXPECT_FALSE(small.HasBeenNotified());
  admission.Release(60);
  small.WaitForNotification();
}

TEST(Admission, ASmallBatchWaitsForNoLargeOnes) {
  Admission admission(Limits{.in_flight_bytes = 6400, .admission_timeout = absl::Minutes(1)});
  absl::Notification large, small;
  admission.Admit(5600, 1, [](const absl::Status&) {});
  admission.Admit(5600, 1, [&](const absl::Status&) { large.Notify(); });
  admission.Admit(100, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    small.Notify();
  });
  EXPECT_TRUE(small.HasBeenNotified()) << "it waits for a large one";
  EXPECT_FALSE(large.HasBeenNotified());
  EXPECT_EQ(admission.state().used_bytes, 5700u);
  admission.Release(100);
  admission.Release(5600);
  large.WaitForNotification();
}

TEST(Admission, WhoWaitsTooLongIsTurnedAway) {
  Admission admission(Limits{.in_flight_bytes = 100, .admission_timeout = absl::Milliseconds(20)});
  absl::Notification answered;
  admission.Admit(100, 1, [](const absl::Status&) {});
  admission.Admit(2, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    answered.Notify();
  });
  answered.WaitForNotification();
}

TEST(Admission, WhoFindsNoRoomToWaitIsTurnedAwayAtOnce) {
  Admission admission(Limits{.in_flight_bytes = 100, .waiting_bytes = 50, .admission_timeout = absl::Minutes(1)});
  admission.Admit(100, 1000, [](const absl::Status&) {});
  absl::Notification alone;
  admission.Admit(2, 60, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << "alone it may wait though it is larger than the room";
    alone.Notify();
  });
  absl::Status refused;
  admission.Admit(2, 1, [&](const absl::Status& status) { refused = status; });
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(admission.state().waiting_bytes, 60u);
  EXPECT_EQ(admission.state().turned_away, 1u);
  admission.Release(100);
  alone.WaitForNotification();
  EXPECT_EQ(admission.state().waiting_bytes, 0u);
}

TEST(Admission, ABatchLargerThanTheBudgetIsLetInAlone) {
  Admission admission(Limits{.in_flight_bytes = 100});
  absl::Notification admitted;
  admission.Admit(1000, 1, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    admitted.Notify();
  });
  EXPECT_TRUE(admitted.HasBeenNotified());
}

}  // namespace
}  // namespace telemetry::collector
