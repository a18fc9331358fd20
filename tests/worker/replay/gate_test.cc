// Judges the default search algorithm on a dataset, so that a change that makes it worse fails. The seeds are fixed:
// the values change only with the algorithms, and, by rounding, between compilers.

#include <gtest/gtest.h>

#include <utility>

#include "tests/paths.h"
#include "worker/replay/replay.h"
#include "worker/replay/run_collector.h"
#include "worker/snapshot/snapshot_reader.h"

namespace telemetry::worker::replay {
namespace {

// With these seeds the default algorithm needs 34 configs and random search 68.
TEST(GateTest, TheDefaultAlgorithmIsAsGoodAsItWas) {
  RunCollector collector;
  const absl::Status status = snapshot::ReadSnapshot(TestdataDir() + "/../worker/replay/data/convolution",
                                                     [&collector](const v1::ExportItem& item) {
                                                       collector.Take(item);
                                                       return absl::OkStatus();
                                                     });
  ASSERT_TRUE(status.ok()) << status;
  const absl::StatusOr<ReplayReport> report =
      ReplayRuns(collector.Finish(), {.algorithms = {"surrogate", "random"}, .seeds = 50});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->runs.size(), 1U) << ToText(*report);
  const std::optional<size_t> usual = MedianConfigsTo2(report->runs[0].algorithms[0]);
  const std::optional<size_t> random = MedianConfigsTo2(report->runs[0].algorithms[1]);
  ASSERT_TRUE(usual.has_value() && random.has_value()) << ToText(*report);
  EXPECT_LE(*usual, 40U) << ToText(*report);
  EXPECT_LE(*usual, *random * 3 / 4) << ToText(*report);
}

}  // namespace
}  // namespace telemetry::worker::replay
