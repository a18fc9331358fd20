#include "worker/repro/recorded_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/fake_dataset.h"
#include "tests/client/spool_fixture.h"

namespace telemetry::worker::repro {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kRun(64, 'a');

v1::ExportItem ConfigsItem() {
  v1::ExportItem item;
  for (const auto& [id, text] : {std::pair(1, "Config(num_warps=1)"), std::pair(2, "Config(num_warps=2)"),
                                 std::pair(4, "Config(num_warps=4)"), std::pair(5, "torn Config(")}) {
    v1::Config& config = *item.mutable_configs()->add_configs();
    config.set_config_id(static_cast<uint64_t>(id));
    config.set_text(text);
  }
  return item;
}

v1::ExportItem AttemptItem(char letter) {
  v1::ExportItem item;
  item.mutable_attempt()->mutable_attempt()->set_attempt_id(std::string(16, letter));
  return item;
}

v1::ExportItem RowItem(uint64_t seq, uint64_t config_id, const std::string& status, std::optional<double> perf_ms) {
  v1::ExportItem item;
  v1::Measurement& row = *item.mutable_rows()->add_measurements();
  row.set_seq(seq);
  row.set_config_id(config_id);
  row.set_status(status);
  if (perf_ms.has_value()) row.set_perf_ms(*perf_ms);
  return item;
}

v1::ExportItem RowItem(uint64_t seq, uint64_t config_id, double perf_ms, v1::MeasurementDetail::Stage stage) {
  v1::ExportItem item = RowItem(seq, config_id, "ok", perf_ms);
  v1::MeasurementDetail& detail = *item.mutable_rows()->add_details();
  detail.set_seq(seq);
  detail.set_stage(stage);
  return item;
}

class FindMeasurementTest : public testing::Test {
 protected:
  FindMeasurementTest() {
    v1::RunSummary summary;
    summary.mutable_run()->set_run_id(kRun);
    summary.set_best_config_id(2);
    dataset_.Add(std::move(summary));
    dataset_.AddExport(kRun, {ConfigsItem(), AttemptItem('x'), RowItem(1, 1, "started", {}), RowItem(2, 1, "ok", 0.5),
                              RowItem(3, 2, "ok", 0.25), RowItem(4, 4, "started", {}), RowItem(5, 5, "ok", 1),
                              AttemptItem('y'), RowItem(1, 1, "ok", 0.4), RowItem(2, 1, "ok", 0.6),
                              RowItem(3, 4, "error", {}), RowItem(4, 1, "timeout", {})});
  }

  absl::Status Refusal(const std::string& run, std::optional<uint64_t> config_id) {
    return FindMeasurement(client_, run, config_id).status();
  }

  TempFolder folder_;
  client::FakeDataset dataset_{folder_.path()};
  client::DatasetClient client_{{.collector = dataset_.address()}};
};

TEST_F(FindMeasurementTest, TakesTheFastestRowOfTheConfigAndItsAttempt) {
  const absl::StatusOr<RecordedMeasurement> found = FindMeasurement(client_, kRun, 1);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->run.run_id(), kRun);
  EXPECT_EQ(found->config.ToString(), "Config(num_warps=1)");
  EXPECT_EQ(found->row.perf_ms(), 0.4);
  EXPECT_EQ(found->attempt.attempt_id(), std::string(16, 'y'));
}

TEST_F(FindMeasurementTest, AFinalRowIsTakenBeforeAFasterOne) {
  using Detail = v1::MeasurementDetail;
  dataset_.AddExport(kRun, {ConfigsItem(), AttemptItem('x'), RowItem(1, 1, 0.1, Detail::STAGE_SCREENING),
                            RowItem(2, 1, 0.2, Detail::STAGE_SEARCH)});
  EXPECT_EQ(FindMeasurement(client_, kRun, 1)->row.perf_ms(), 0.2);
  dataset_.AddExport(kRun, {ConfigsItem(), AttemptItem('x'), RowItem(1, 1, 0.2, Detail::STAGE_SEARCH),
                            RowItem(2, 1, 0.4, Detail::STAGE_FINAL), RowItem(3, 1, 0.3, Detail::STAGE_FINAL),
                            RowItem(4, 1, "ok", 0.1)});
  EXPECT_EQ(FindMeasurement(client_, kRun, 1)->row.perf_ms(), 0.3);
}

TEST_F(FindMeasurementTest, AConfigThatNeverRanHasItsLastRow) {
  const absl::StatusOr<RecordedMeasurement> found = FindMeasurement(client_, kRun, 4);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->row.status(), "error");
}

TEST_F(FindMeasurementTest, WithoutAConfigItIsTheBestAndTheFirstDigitsNameARun) {
  const absl::StatusOr<RecordedMeasurement> found = FindMeasurement(client_, kRun.substr(0, 6), std::nullopt);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->config_id, 2u);
  EXPECT_EQ(found->row.perf_ms(), 0.25);
}

TEST_F(FindMeasurementTest, SaysWhatIsNotThere) {
  EXPECT_EQ(Refusal("beef", 1).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Refusal(kRun, 3).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Refusal(kRun, 3).message()), AllOf(HasSubstr(kRun), HasSubstr("0000000000000003")));
  EXPECT_EQ(Refusal(kRun, 5).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FindMeasurementTest, ABeginningThatSeveralRunsHaveIsNotEnough) {
  v1::RunSummary other;
  other.mutable_run()->set_run_id("aaaa" + std::string(60, 'b'));
  dataset_.Add(std::move(other));
  EXPECT_EQ(Refusal("aaaa", 1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Refusal("aaaa", 1).message()), HasSubstr("more digits"));
}

}  // namespace
}  // namespace telemetry::worker::repro
