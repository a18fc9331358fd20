#include "worker/compare/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/civil_time.h"
#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromCivil(absl::CivilDay(2025, 3, 10), absl::UTCTimeZone());

Selector Parse(const std::string& text) { return Selector::Parse(text, kNow).value(); }

int64_t UnixUs(int day) {
  return absl::ToUnixMicros(absl::FromCivil(absl::CivilDay(2025, 3, day), absl::UTCTimeZone()));
}

TEST(SelectorTest, SelectsOrigins) {
  const AttemptBuilder attempt("main/12");
  const auto selects = [&](const std::string& text) {
    return Parse(text).Selects(v1::Run(), attempt.items()[0].attempt());
  };
  EXPECT_TRUE(selects("origin=main/12"));
  EXPECT_TRUE(selects("origin=main/*"));
  EXPECT_TRUE(selects("origin=*"));
  EXPECT_FALSE(selects("origin=main/1"));
  EXPECT_FALSE(selects("origin=pr/*"));
}

TEST(SelectorTest, SelectsCommits) {
  AttemptBuilder attempt;
  const auto selects = [&](const std::string& text) {
    return Parse(text).Selects(v1::Run(), attempt.items()[0].attempt());
  };
  EXPECT_FALSE(selects("commit=3f09c1a"));
  attempt.attempt().set_environment_json(R"({"ci": {"GITHUB_SHA": "3f09c1a77d0be2"}, "host": "gpu-1"})");
  EXPECT_TRUE(selects("commit=3f09c1a"));
  EXPECT_FALSE(selects("commit=77d0be2"));
  attempt.attempt().set_environment_json(R"({"commit": "77d0be2000"})");
  EXPECT_TRUE(selects("commit=77d0be2"));
  attempt.attempt().set_environment_json("not JSON");
  EXPECT_FALSE(selects("commit=77d0be2"));
}

TEST(SelectorTest, SelectsDates) {
  AttemptBuilder attempt;
  const auto selects = [&](const std::string& text) {
    return Parse(text).Selects(v1::Run(), attempt.items()[0].attempt());
  };
  attempt.attempt().set_started_unix_us(UnixUs(5));
  EXPECT_TRUE(selects("dates=2025-03-05..2025-03-06"));
  EXPECT_FALSE(selects("dates=2025-03-04..2025-03-05"));
  EXPECT_TRUE(selects("dates=2025-03-05.."));
  EXPECT_TRUE(selects("dates=..2025-03-06"));
  EXPECT_TRUE(selects("dates=7d..1d"));
  attempt.attempt().clear_started_unix_us();
  attempt.summary().set_first_received_unix_us(UnixUs(2));
  EXPECT_FALSE(selects("dates=2025-03-05.."));
  EXPECT_TRUE(selects("dates=..2025-03-05"));
  EXPECT_EQ(Parse("dates=2025-03-05..").since_unix_us(), UnixUs(5));
  EXPECT_EQ(Parse("origin=main/*").since_unix_us(), 0);
}

TEST(SelectorTest, SelectsDevices) {
  v1::Run run;
  run.set_hardware("NVIDIA H200");
  EXPECT_TRUE(Parse("device=NVIDIA H2*").Selects(run, v1::AttemptSummary()));
  EXPECT_FALSE(Parse("device=NVIDIA H100*").Selects(run, v1::AttemptSummary()));
}

TEST(SelectorTest, RefusesOtherTexts) {
  for (const char* const text :
       {"", "main", "origin", "origin=", "branch=main", "commit=3f", "commit=3F09C1A", "commit=softmax",
        "dates=2025-03-01", "dates=yesterday..", "dates=2025-03-02..2025-03-01", "dates=2025-03-02..2025-03-02"}) {
    const auto selector = Selector::Parse(text, kNow);
    EXPECT_EQ(selector.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(selector.status().message()), HasSubstr(text));
  }
}

}  // namespace
}  // namespace telemetry::worker::compare
