#include "client/dataset_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "tests/client/fake_dataset.h"
#include "tests/client/spool_fixture.h"

namespace telemetry::client {
namespace {

v1::Filter OfKernel(const std::string& name) {
  v1::Filter filter;
  filter.set_kernel_name(name);
  return filter;
}

class DatasetClientTest : public testing::Test {
 protected:
  DatasetClientTest() {
    for (const char digit : {'a', 'b', 'c', 'd', 'e'}) dataset_.Add(digit, "softmax", "[(4, 8)]", "Config(a=1)", 0.5);
    dataset_.Add('f', "add", "[(4, 8)]", "Config(a=1)", 0.5);
  }

  TempFolder folder_;
  FakeDataset dataset_{folder_.path()};
  DatasetClient client_{{.collector = dataset_.address()}};
};

TEST_F(DatasetClientTest, ListsAllPages) {
  dataset_.SetLargestPage(2);
  const auto runs = client_.ListRuns(OfKernel("softmax"), 100);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 5u);
  EXPECT_EQ(runs->back().run().run_id(), std::string(64, 'e'));
  EXPECT_EQ(dataset_.calls(), 3);
}

TEST_F(DatasetClientTest, ListsNoMoreThanTheLimit) {
  dataset_.SetLargestPage(2);
  EXPECT_EQ(client_.ListRuns(OfKernel("softmax"), 3)->size(), 3u);
  EXPECT_EQ(dataset_.calls(), 2);
}

TEST_F(DatasetClientTest, GetsARun) {
  const auto run = client_.GetRun(std::string(64, 'f'));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->run().kernel_name(), "add");
  EXPECT_TRUE(absl::IsNotFound(client_.GetRun(std::string(64, '0')).status()));
}

TEST_F(DatasetClientTest, ExportsItemsUntilOneIsRefused) {
  std::vector<v1::ExportItem> items(3);
  for (int i = 0; i < 3; ++i) items[static_cast<size_t>(i)].mutable_totals()->set_runs(i);
  dataset_.AddExport("", items);
  std::vector<uint64_t> seen;
  ASSERT_TRUE(client_
                  .Export({},
                          [&](const v1::ExportItem& item) {
                            seen.push_back(item.totals().runs());
                            return absl::OkStatus();
                          })
                  .ok());
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2));
  const absl::Status refused = client_.Export({}, [&](const v1::ExportItem& item) {
    return item.totals().runs() == 1 ? absl::DataLossError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(refused, absl::DataLossError("no more"));
}

TEST_F(DatasetClientTest, ACollectorThatIsNotThereIsNamed) {
  const std::string nowhere = "unix:" + folder_.path() + "/nobody.sock";
  DatasetClient client({.collector = nowhere, .deadline = absl::Seconds(10)});
  const absl::Status status = client.ListRuns({}, 10).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(nowhere));
}

TEST_F(DatasetClientTest, ACollectorThatDoesNotAnswerCostsTheDeadline) {
  dataset_.Hang();
  DatasetClient client({.collector = dataset_.address(), .deadline = absl::Milliseconds(50)});
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.GetRun(std::string(64, 'a')).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.ListRuns({}, 10).status()));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
}

}  // namespace
}  // namespace telemetry::client
