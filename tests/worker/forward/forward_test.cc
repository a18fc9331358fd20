#include "worker/forward/forward.h"

#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/forward/model_dataset.h"
#include "tests/worker/forward/test_files.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ForwardOnce, AFolderOfSamples) {
  ModelDataset dataset;
  absl::StatusOr<ForwardResult> result =
      ForwardOnce({.paths = {Sample("helion-main"), Sample("helion-pr2750/add")}}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->groups, 4U);
  EXPECT_EQ(result->counts.rows, 84U + 36 + 62 + 122);
  EXPECT_EQ(result->counts.rejects, 0U);
  EXPECT_THAT(result->problems, SizeIs(0));
}

TEST(ForwardOnce, AnUnreadableGroupIsAProblemAndTheOthersGoOn) {
  TempFolder folder;
  WriteFile(folder.File("good.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  std::filesystem::create_directory(folder.File("bad.csv"));
  WriteFile(folder.File("bad.meta.jsonl"), "");
  ModelDataset dataset;
  absl::StatusOr<ForwardResult> result = ForwardOnce({.paths = {folder.path()}}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(dataset.rows, SizeIs(84));
  EXPECT_THAT(result->problems, ElementsAre(HasSubstr("bad.csv")));
}

TEST(ForwardOnce, TheSinksErrorEndsIt) {
  const absl::Status status = ForwardOnce({.paths = {Sample("helion-main")}}, [](const v1::Record&) {
                                return absl::ResourceExhaustedError("disk full");
                              }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST(ForwardOnce, APathWithoutSidecarsIsAProblemAndTheOthersGoOn) {
  TempFolder folder;
  ModelDataset dataset;
  std::vector<std::string> said;
  const auto say = [&said](const std::string& problem) { said.push_back(problem); };
  absl::StatusOr<ForwardResult> result =
      ForwardOnce({.paths = {folder.File("misspelt"), Sample("helion-main/bmm")}, .on_problem = say}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(dataset.rows, SizeIs(84));
  EXPECT_THAT(result->problems, ElementsAre(HasSubstr("misspelt")));
  EXPECT_EQ(said, result->problems);
}

// Runs ForwardAndWatch() in a thread and waits for records.
class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(stop_), 0); }
  void TearDown() override {
    Stop();
    close(stop_[0]);
    close(stop_[1]);
  }

  void Watch(const std::string& path) {
    watcher_ = std::thread([this, path] {
      const auto sink = [this](const v1::Record& record) {
        absl::MutexLock lock(&mutex_);
        return dataset_.Sink()(record);
      };
      const auto start_again = [this] {
        absl::MutexLock lock(&mutex_);
        return std::exchange(start_again_, false);
      };
      const auto say = [this](const std::string& problem) {
        absl::MutexLock lock(&mutex_);
        said_.push_back(problem);
      };
      result_ = ForwardAndWatch(
          {.paths = {path}, .rescan_interval = rescan_interval_, .start_again = start_again, .on_problem = say},
          stop_[0], sink);
    });
  }

  std::vector<std::string> AwaitProblems(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto arrived = [&] { return said_.size() == count; };
    mutex_.AwaitWithTimeout(absl::Condition(&arrived), absl::Seconds(30));
    return said_;
  }

  bool AwaitRows(size_t rows) {
    absl::MutexLock lock(&mutex_);
    const auto arrived = [&] { return dataset_.rows.size() == rows; };
    return mutex_.AwaitWithTimeout(absl::Condition(&arrived), absl::Seconds(30));
  }

  void Stop() {
    if (!watcher_.joinable()) return;
    ASSERT_EQ(write(stop_[1], "x", 1), 1);
    watcher_.join();
  }

  TempFolder folder_;
  int stop_[2] = {-1, -1};
  // Long by default, so that a rescan does not hide a change that inotify misses.
  absl::Duration rescan_interval_ = absl::Hours(1);
  bool start_again_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Mutex mutex_;
  ModelDataset dataset_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> said_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<ForwardResult> result_ = absl::UnknownError("still running");
  std::thread watcher_;
};

// Returns the number of rows in the bytes of a CSV file.
size_t RowsIn(std::string_view csv) { return static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')) - 1; }

TEST_F(WatchTest, RowsArriveAsTheFileGrows) {
  const std::string csv = ReadFile(Sample("helion-main/bmm.csv"));
  const size_t half = csv.find("\r\n", csv.size() / 2) + 2;
  WriteFile(folder_.File("k.csv"), csv.substr(0, half));
  Watch(folder_.path());
  EXPECT_TRUE(AwaitRows(RowsIn(csv.substr(0, half))));
  AppendFile(folder_.File("k.csv"), csv.substr(half));
  EXPECT_TRUE(AwaitRows(84));
  Stop();
  ASSERT_TRUE(result_.ok()) << result_.status();
  EXPECT_EQ(result_->counts.rows, 84U);
}

TEST_F(WatchTest, NewFilesAndFoldersAreFound) {
  Watch(folder_.path());
  WriteFile(folder_.File("job-1/deep/k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  EXPECT_TRUE(AwaitRows(84));
}

TEST_F(WatchTest, ABasePathThatComesLater) {
  Watch(folder_.File("k"));
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  EXPECT_TRUE(AwaitRows(84));
}

TEST_F(WatchTest, FoldersMayComeAndGo) {
  Watch(folder_.path());
  for (int i = 0; i < 100; ++i) {
    const std::string folder = folder_.File("a" + std::to_string(i));
    WriteFile(folder + "/b/c/x.csv", "");
    std::filesystem::remove_all(folder);
    WriteFile(folder, "");
    std::filesystem::remove(folder);
  }
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  EXPECT_TRUE(AwaitRows(84));
}

TEST_F(WatchTest, ABasePathWhoseFolderIsNotThereYet) {
  rescan_interval_ = absl::Milliseconds(50);
  Watch(folder_.File("later/k"));
  WriteFile(folder_.File("later/k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  EXPECT_TRUE(AwaitRows(84));
}

TEST_F(WatchTest, AnotherDatasetGetsEverythingAgain) {
  rescan_interval_ = absl::Milliseconds(50);
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  Watch(folder_.path());
  EXPECT_TRUE(AwaitRows(84));
  {
    absl::MutexLock lock(&mutex_);
    dataset_ = {};
    start_again_ = true;
  }
  EXPECT_TRUE(AwaitRows(84));
}

TEST_F(WatchTest, RowsWithoutARunAreSaidAtOnceAndInTheResult) {
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-v1.1/softmax_two_pass.csv")));
  Watch(folder_.path());
  EXPECT_THAT(AwaitProblems(1), ElementsAre(HasSubstr("44 rows refused")));
  Stop();
  ASSERT_TRUE(result_.ok()) << result_.status();
  EXPECT_EQ(result_->counts.waiting_rows, 44U);
  EXPECT_THAT(result_->problems, ElementsAre(HasSubstr("44 rows refused")));
}

TEST_F(WatchTest, APathWithoutSidecarsIsSaidAtOnceAndUntilOneComes) {
  Watch(folder_.File("k"));
  EXPECT_THAT(AwaitProblems(1), ElementsAre(HasSubstr("no sidecar at")));
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  EXPECT_TRUE(AwaitRows(84));
  Stop();
  ASSERT_TRUE(result_.ok()) << result_.status();
  EXPECT_THAT(result_->problems, SizeIs(0));
}

TEST_F(WatchTest, ALastLineWithoutItsEndIsReadAtTheStop) {
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")) + "torn");
  Watch(folder_.path());
  EXPECT_TRUE(AwaitRows(84));
  Stop();
  ASSERT_TRUE(result_.ok()) << result_.status();
  EXPECT_EQ(result_->counts.rejects, 1U);
}

TEST_F(WatchTest, AFileIsRotatedWhileItIsWritten) {
  rescan_interval_ = absl::Milliseconds(50);
  const std::string bmm = ReadFile(Sample("helion-main/bmm.csv"));
  const size_t half = bmm.find('\n', bmm.size() / 2) + 1;
  const size_t rows = RowsIn(bmm.substr(0, half));
  WriteFile(folder_.File("k.csv"), bmm.substr(0, half));
  Watch(folder_.path());
  EXPECT_TRUE(AwaitRows(rows));
  std::filesystem::rename(folder_.File("k.csv"), folder_.File("k.csv.1"));
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/rms_norm.csv")));
  EXPECT_TRUE(AwaitRows(rows + 36));
  AppendFile(folder_.File("k.csv.1"), bmm.substr(half));
  EXPECT_TRUE(AwaitRows(84 + 36));
}

TEST_F(WatchTest, AReplacedFileIsReadAgain) {
  WriteFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/bmm.csv")));
  Watch(folder_.path());
  EXPECT_TRUE(AwaitRows(84));
  ReplaceFile(folder_.File("k.csv"), ReadFile(Sample("helion-main/rms_norm.csv")));
  EXPECT_TRUE(AwaitRows(84 + 36));
}

}  // namespace
}  // namespace telemetry::worker::forward
