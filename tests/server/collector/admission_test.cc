#include "server/collector/admission.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace telemetry::collector {
namespace {

TEST(Admission, WhoDoesNotFitWaitsForRoom) {
  Admission admission(Limits{.in_flight_bytes = 100, .admission_timeout = absl::Minutes(1)});
  absl::Notification first, second;
  admission.Admit(80, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    first.Notify();
  });
  EXPECT_TRUE(first.HasBeenNotified()) << "there was room at once";
  admission.Admit(80, [&](const absl::Status& status) {
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
  admission.Admit(60, [](const absl::Status&) {});
  admission.Admit(90, [&](const absl::Status&) { large.Notify(); });
  admission.Admit(1, [&](const absl::Status&) {
    EXPECT_TRUE(large.HasBeenNotified());
    small.Notify();
  });
  EXPECT_FALSE(small.HasBeenNotified());
  admission.Release(60);
  small.WaitForNotification();
}

TEST(Admission, WhoWaitsTooLongIsTurnedAway) {
  Admission admission(Limits{.in_flight_bytes = 100, .admission_timeout = absl::Milliseconds(20)});
  absl::Notification answered;
  admission.Admit(100, [](const absl::Status&) {});
  admission.Admit(1, [&](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    answered.Notify();
  });
  answered.WaitForNotification();
}

TEST(Admission, ABatchLargerThanTheBudgetIsLetInAlone) {
  Admission admission(Limits{.in_flight_bytes = 100});
  absl::Notification admitted;
  admission.Admit(1000, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    admitted.Notify();
  });
  EXPECT_TRUE(admitted.HasBeenNotified());
}

}  // namespace
}  // namespace telemetry::collector
