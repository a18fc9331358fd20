#include "proto/base/since.h"

#include <gtest/gtest.h>

#include "absl/time/civil_time.h"

namespace telemetry {
namespace {

const absl::Time kNow = absl::FromCivil(absl::CivilSecond(2025, 3, 10, 12, 0, 0), absl::UTCTimeZone());

TEST(Since, ReadsPointsInTime) {
  EXPECT_EQ(ParseSince("2025-03-01T12:30:00Z", kNow).value(),
            absl::FromCivil(absl::CivilSecond(2025, 3, 1, 12, 30, 0), absl::UTCTimeZone()));
  EXPECT_EQ(ParseSince("2025-03-01T12:30:00.5+02:00", kNow).value(),
            absl::FromCivil(absl::CivilSecond(2025, 3, 1, 10, 30, 0), absl::UTCTimeZone()) + absl::Milliseconds(500));
  EXPECT_EQ(ParseSince("2025-03-01", kNow).value(), absl::FromCivil(absl::CivilDay(2025, 3, 1), absl::UTCTimeZone()));
}

TEST(Since, ReadsAges) {
  EXPECT_EQ(ParseSince("24h", kNow).value(), kNow - absl::Hours(24));
  EXPECT_EQ(ParseSince("1h30m", kNow).value(), kNow - absl::Minutes(90));
  EXPECT_EQ(ParseSince("7d", kNow).value(), kNow - absl::Hours(7 * 24));
}

TEST(Since, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "d", "yesterday", "24", "-3h", "-2d", "inf", "2025-13-01", "1969-12-31", "99999999999h"}) {
    EXPECT_EQ(ParseSince(text, kNow).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace telemetry
