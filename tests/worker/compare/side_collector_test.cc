#include "worker/compare/side_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::ElementsAre;

v1::ExportItem RunOf(char digit, const std::string& kernel, const std::string& hardware) {
  v1::ExportItem item;
  v1::Run& run = *item.mutable_run()->mutable_run();
  run.set_run_id(std::string(64, digit));
  run.set_kernel_name(kernel);
  run.set_hardware(hardware);
  return item;
}

void TakeAttempt(SideCollector& sides, const std::string& origin) {
  AttemptBuilder attempt(origin);
  attempt.Row(1, 2.0);
  for (const v1::ExportItem& item : attempt.items()) sides.Take(item);
}

Selector SelectorOf(const std::string& text) { return Selector::Parse(text, absl::Now()).value(); }

TEST(SideCollectorTest, UnitesTheVersionsOfAKernel) {
  const Selector base = SelectorOf("origin=main");
  const Selector head = SelectorOf("origin=pr");
  SideCollector sides(base, head);
  sides.Take(RunOf('1', "add", "H200"));
  TakeAttempt(sides, "main");
  TakeAttempt(sides, "other");
  sides.Take(RunOf('2', "add", "H200"));
  TakeAttempt(sides, "pr");
  TakeAttempt(sides, "pr");
  sides.Take(RunOf('3', "mul", "H200"));
  TakeAttempt(sides, "pr");
  const std::vector<RunSides> runs = sides.Finish();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].key.kernel_name, "add");
  EXPECT_EQ(runs[0].base.size(), 1U);
  EXPECT_EQ(runs[0].head.size(), 2U);
  EXPECT_TRUE(runs[0].head[1].Of(TimeKind::kBest).has_value());
  EXPECT_EQ(runs[1].base.size(), 0U);
  EXPECT_EQ(sides.base_attempts(), 1U);
  EXPECT_EQ(sides.head_attempts(), 3U);
  EXPECT_THAT(sides.origins(), ElementsAre("main", "other", "pr"));
}

TEST(SideCollectorTest, GivesAnAttemptOfBothSidesToTheHead) {
  const Selector base = SelectorOf("origin=*");
  const Selector head = SelectorOf("origin=pr");
  SideCollector sides(base, head);
  sides.Take(RunOf('1', "add", "H200"));
  TakeAttempt(sides, "pr");
  sides.Finish();
  EXPECT_EQ(sides.base_attempts(), 0U);
  EXPECT_EQ(sides.head_attempts(), 1U);
}

TEST(SideCollectorTest, ComparesDevices) {
  const Selector base = SelectorOf("device=H100");
  const Selector head = SelectorOf("device=H200");
  SideCollector sides(base, head);
  sides.Take(RunOf('1', "add", "H100"));
  TakeAttempt(sides, "a");
  sides.Take(RunOf('2', "add", "H200"));
  TakeAttempt(sides, "b");
  const std::vector<RunSides> runs = sides.Finish();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].base.size(), 1U);
  EXPECT_EQ(runs[0].head.size(), 1U);
  EXPECT_EQ(runs[0].key.hardware, "");
}

}  // namespace
}  // namespace telemetry::worker::compare
