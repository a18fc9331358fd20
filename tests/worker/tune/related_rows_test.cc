// Tests the results of related runs that a search gets from a collector.

#include "worker/tune/related_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/fake_dataset.h"
#include "tests/temp_folder.h"

namespace telemetry::worker::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RelatedRowsTest : public testing::Test {
 protected:
  struct Row {
    uint64_t config_id;
    std::string status;
    double perf_ms = 0;
  };

  v1::Run MakeRun(char digit, const std::string& shapes, const std::string& hardware = "H") {
    v1::Run run;
    run.set_run_id(std::string(64, digit));
    run.set_kernel_name("softmax");
    run.set_input_shapes(shapes);
    run.set_dtypes("['torch.float32']");
    run.set_hardware(hardware);
    return run;
  }
  // Adds a run with these rows. Config N has num_warps=N.
  void Add(const v1::Run& run, const std::vector<Row>& rows) {
    v1::RunSummary summary;
    *summary.mutable_run() = run;
    summary.set_measurements(100);
    dataset_.Add(summary);
    std::vector<v1::ExportItem> items(3);
    *items[0].mutable_run() = summary;
    for (const Row& row : rows) {
      v1::Config& config = *items[1].mutable_configs()->add_configs();
      config.set_config_id(row.config_id);
      config.set_text("Config(num_warps=" + std::to_string(row.config_id) + ")");
      v1::Measurement& measurement = *items[2].mutable_rows()->add_measurements();
      measurement.set_config_id(row.config_id);
      measurement.set_status(row.status);
      measurement.set_perf_ms(row.perf_ms);
    }
    dataset_.AddExport(run.run_id(), items);
  }
  std::vector<search::RelatedRun> Find() {
    return FindRelatedRuns(MakeRun('a', "[(64, 64)]"), collector_,
                           [this](const std::string& text) { notices_.push_back(text); });
  }
  static std::string Text(const search::RelatedRun& run) {
    std::string text;
    for (const search::Trial& trial : run.trials) {
      text += trial.config.ToString() +
              (trial.perf_ms ? "=" + std::to_string(*trial.perf_ms).substr(0, 3) : " failed") + ";";
    }
    return text;
  }

  TempFolder folder_;
  client::FakeDataset dataset_{folder_.path()};
  client::DatasetClient collector_{{.collector = dataset_.address()}};
  std::vector<std::string> notices_;
};

TEST_F(RelatedRowsTest, RowsOfTheNearestRunsAreRead) {
  Add(MakeRun('b', "[(4096, 64)]"), {{1, "ok", 4}});
  Add(MakeRun('c', "[(128, 64)]"), {{2, "started"}, {2, "ok", 3.5}, {2, "ok", 3}, {4, "error"}, {8, "filtered"}});
  Add(MakeRun('d', "[(64, 64)]", "other device"), {{16, "ok", 2}, {32, "ok", -1}});
  Add(MakeRun('e', "[(64,)]"), {{1, "ok", 1}});
  const std::vector<search::RelatedRun> related = Find();
  ASSERT_EQ(related.size(), 3u);
  EXPECT_EQ(Text(related[0]), "Config(num_warps=2)=3.0;Config(num_warps=4) failed;");
  EXPECT_EQ(Text(related[1]), "Config(num_warps=1)=4.0;");
  EXPECT_EQ(Text(related[2]), "Config(num_warps=16)=2.0;Config(num_warps=32) failed;");
  EXPECT_LT(related[0].noise, related[1].noise);
  EXPECT_LT(related[1].noise, related[2].noise);
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(RelatedRowsTest, RunsAndRowsAreLimited) {
  std::vector<Row> rows;
  for (uint64_t i = 1; i <= kMostRelatedRows + 100; ++i) rows.push_back({i, "ok", 1e6 - static_cast<double>(i)});
  for (const char digit : std::string("bcdef0123456789")) Add(MakeRun(digit, "[(64, 64)]"), {{1, "ok", 1}});
  Add(MakeRun('0', "[(64, 64)]"), rows);
  const std::vector<search::RelatedRun> related = Find();
  ASSERT_EQ(related.size(), search::kMostRelatedRuns);
  EXPECT_EQ(related[0].trials.size(), search::kMostRelatedTrials);
  EXPECT_EQ(related[0].trials[0].config.ToString(), "Config(num_warps=" + std::to_string(kMostRelatedRows) + ")");
}

TEST_F(RelatedRowsTest, ACollectorThatIsAwayIsANotice) {
  client::DatasetClient nobody({.collector = "unix:" + folder_.File("nobody")});
  EXPECT_THAT(FindRelatedRuns(MakeRun('a', "[(64, 64)]"), nobody,
                              [this](const std::string& text) { notices_.push_back(text); }),
              IsEmpty());
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("searching without some results of related runs")));
}

}  // namespace
}  // namespace telemetry::worker::tune
