// Tests of serving the job folders of the Python package.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/forward/model_dataset.h"
#include "tests/worker/forward/test_files.h"
#include "worker/forward/folder_watch.h"
#include "worker/forward/forward.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kAttemptId[] = "00112233445566778899aabbccddeeff";

std::string AttemptLine() {
  return absl::StrCat(R"({"kind": "attempt", "version": 1, "attempt_id": ")", kAttemptId,
                      R"(", "tuner": "mine", "kernel_name": "k", "kernel_source": "", "input_shapes": "[]",)"
                      R"( "dtypes": "[]", "hardware": "CPU", "origin": "ci/1"})"
                      "\n");
}

std::string MeasurementLine(int seq) {
  return absl::StrCat(R"({"kind": "measurement", "attempt_id": ")", kAttemptId, R"(", "seq": )", seq,
                      R"(, "status": "ok", "config": {"n": )", seq, R"(}, "perf_ms": 1.5})", "\n");
}

// A process with a job folder.
class Writer {
 public:
  Writer(const std::string& jobs, const std::string& name) : folder_(jobs + "/" + name) {
    std::filesystem::create_directories(folder_);
    WriteFile(folder_ + "/writer", R"({"pid": 1, "origin": "ci/7"})");
    fd_ = open((folder_ + "/writer").c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(flock(fd_, LOCK_EX), 0);
  }
  ~Writer() { End(); }
  void Append(std::string_view bytes) { AppendFile(folder_ + "/lines-0001.measurements.jsonl", bytes); }
  void End() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  int fd_ = -1;
};

// Runs ForwardAndWatch() on a folder of job folders, with a collector that acknowledges `committed_` records.
class JobsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(stop_), 0); }
  void TearDown() override {
    if (watcher_.joinable()) {
      ASSERT_EQ(write(stop_[1], "x", 1), 1);
      watcher_.join();
    }
    close(stop_[0]);
    close(stop_[1]);
  }

  void Watch(absl::Duration idle_limit, absl::Duration delivery_limit = absl::Hours(1)) {
    const JobOptions jobs = {
        .idle_limit = idle_limit,
        .delivery_limit = delivery_limit,
        .progress = {.appended_seq = [this] { return appended_.load(); },
                     .durable_seq = [this] { return appended_.load(); },
                     .committed_seq = [this] { return std::min(committed_.load(), appended_.load()); }},
        .start_lock = &start_lock_};
    watcher_ = std::thread([this, jobs] {
      const auto sink = [this](const v1::Record& record) {
        absl::MutexLock lock(&mutex_);
        ++appended_;
        return dataset_.Sink()(record);
      };
      result_ = ForwardAndWatch({.paths = {folder_.path()}, .jobs = jobs, .rescan_interval = absl::Milliseconds(100)},
                                stop_[0], sink);
    });
  }

  // Waits until the watch has ended by itself.
  ForwardResult AwaitEnd() {
    watcher_.join();
    EXPECT_TRUE(result_.ok()) << result_.status();
    return *result_;
  }

  bool AwaitRows(size_t rows) {
    absl::MutexLock lock(&mutex_);
    const auto arrived = [&] { return dataset_.rows.size() == rows; };
    return mutex_.AwaitWithTimeout(absl::Condition(&arrived), absl::Seconds(30));
  }

  // Returns the acknowledged bytes of the writer's file when they have changed from `before`.
  std::string AwaitDelivered(const Writer& writer, const std::string& before) {
    std::string text = before;
    for (int tries = 0; tries < 3000 && text == before; ++tries) {
      absl::SleepFor(absl::Milliseconds(10));
      text = ReadFile(writer.folder() + "/delivered");
    }
    return text;
  }

  TempFolder folder_;
  StartLock start_lock_{folder_.path()};
  int stop_[2] = {-1, -1};
  std::atomic<uint64_t> appended_ = 0;
  std::atomic<uint64_t> committed_ = ~uint64_t{0};
  absl::Mutex mutex_;
  ModelDataset dataset_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<ForwardResult> result_ = absl::UnknownError("still running");
  std::thread watcher_;
};

TEST_F(JobsTest, AnEndedJobIsReadRemovedAndTheWatchEnds) {
  Writer writer(folder_.path(), "a-1");
  writer.Append(AttemptLine() + MeasurementLine(1) + MeasurementLine(2));
  writer.End();
  Watch(absl::Milliseconds(50));
  EXPECT_EQ(AwaitEnd().counts.rows, 2U);
  EXPECT_FALSE(std::filesystem::exists(writer.folder()));
  absl::MutexLock lock(&mutex_);
  ASSERT_THAT(dataset_.attempts, SizeIs(1));
  EXPECT_EQ(dataset_.attempts.begin()->second.state(), v1::Attempt::STATE_ABANDONED);
  EXPECT_EQ(dataset_.attempts.begin()->second.origin(), "ci/1");
}

TEST_F(JobsTest, ARunningJobIsKeptAndToldHowMuchIsDelivered) {
  Writer writer(folder_.path(), "a-1");
  const std::string first = AttemptLine() + MeasurementLine(1);
  writer.Append(first + "{\"kind\": \"measu");
  Watch(absl::Milliseconds(50));
  EXPECT_TRUE(AwaitRows(1));
  const std::string delivered = AwaitDelivered(writer, "");
  EXPECT_EQ(delivered, absl::StrCat("{\"lines-0001.measurements.jsonl\": ", first.size(), "}\n"));
  writer.Append("rement\"}\n");
  EXPECT_NE(AwaitDelivered(writer, delivered), delivered);
  EXPECT_TRUE(std::filesystem::exists(writer.folder()));
  {
    absl::MutexLock lock(&mutex_);
    EXPECT_EQ(dataset_.attempts.begin()->second.state(), v1::Attempt::STATE_OPEN);
  }
  writer.End();
  AwaitEnd();
  EXPECT_FALSE(std::filesystem::exists(writer.folder()));
}

TEST_F(JobsTest, NothingIsRemovedBeforeTheCollectorHasIt) {
  committed_ = 0;
  Writer writer(folder_.path(), "a-1");
  writer.Append(AttemptLine() + MeasurementLine(1));
  writer.End();
  Watch(absl::Milliseconds(10), absl::Milliseconds(300));
  AwaitEnd();  // because of the delivery limit
  EXPECT_TRUE(std::filesystem::exists(writer.folder()));
  EXPECT_FALSE(std::filesystem::exists(writer.folder() + "/delivered"));
}

TEST_F(JobsTest, AJobInTheSpoolIsNotReadAgain) {
  committed_ = 0;
  Writer writer(folder_.path(), "a-1");
  writer.Append(AttemptLine() + MeasurementLine(1));
  writer.End();
  Watch(absl::Milliseconds(10), absl::Milliseconds(300));
  AwaitEnd();
  const uint64_t appended = appended_;
  EXPECT_EQ(JobFolder(writer.folder()).spooled_seq(), appended);
  committed_ = appended;  // the next forwarder delivers the spool
  Watch(absl::Milliseconds(10));
  EXPECT_EQ(AwaitEnd().counts.rows, 0U);
  EXPECT_EQ(appended_, appended);
  EXPECT_FALSE(std::filesystem::exists(writer.folder()));
}

TEST_F(JobsTest, AJobOfALostSpoolIsReadAgain) {
  Writer writer(folder_.path(), "a-1");
  writer.Append(AttemptLine() + MeasurementLine(1));
  ASSERT_TRUE(JobFolder(writer.folder()).WriteSpooled(100).ok());
  writer.End();
  Watch(absl::Milliseconds(10));
  EXPECT_EQ(AwaitEnd().counts.rows, 1U);
  EXPECT_FALSE(std::filesystem::exists(writer.folder()));
}

TEST_F(JobsTest, AJobWithoutALineIsRemoved) {
  Writer(folder_.path(), "a-1").End();
  Watch(absl::Milliseconds(50));
  EXPECT_EQ(AwaitEnd().counts.rows, 0U);
  EXPECT_THAT(JobFoldersIn(folder_.path()), SizeIs(0));
}

TEST_F(JobsTest, SidecarsOfAJobHaveItsOrigin) {
  Writer writer(folder_.path(), "a-1");
  WriteFile(writer.folder() + "/helion.csv", ReadFile(Sample("helion-main/bmm.csv")));
  writer.End();
  Watch(absl::Milliseconds(50));
  EXPECT_EQ(AwaitEnd().counts.rows, 84U);
  EXPECT_FALSE(std::filesystem::exists(writer.folder()));
  absl::MutexLock lock(&mutex_);
  EXPECT_EQ(dataset_.attempts.begin()->second.origin(), "ci/7");
}

TEST_F(JobsTest, TheEndHoldsTheStartLock) {
  Watch(absl::Milliseconds(10));
  AwaitEnd();
  const int fd = open((folder_.path() + "/start.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_NE(flock(fd, LOCK_EX | LOCK_NB), 0);
  start_lock_.Release();
  EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  close(fd);
}

TEST(FolderWatch, PollingWaitsForItsLimitAndForTheStop) {
  TempFolder folder;
  int stop[2] = {-1, -1};
  ASSERT_EQ(pipe(stop), 0);
  const std::unique_ptr<FolderWatch> watch = FolderWatch::CreatePolling(stop[0]);
  EXPECT_TRUE(watch->Add(folder.path(), /*below=*/true).ok());
  WriteFile(folder.File("k.csv"), "x");
  absl::StatusOr<FolderWatch::Changes> changes = watch->Wait(absl::Milliseconds(10));
  ASSERT_TRUE(changes.ok()) << changes.status();
  EXPECT_TRUE(changes->all);
  EXPECT_FALSE(changes->stop);
  ASSERT_EQ(write(stop[1], "x", 1), 1);
  changes = watch->Wait(absl::Hours(1));
  ASSERT_TRUE(changes.ok()) << changes.status();
  EXPECT_TRUE(changes->stop);
  close(stop[0]);
  close(stop[1]);
}

TEST(KernelTunerFiles, OneAttemptWhileTheFileGrows) {
  const std::string whole = ReadFile(Sample("kernel-tuner/vector_add.json"));
  const size_t second = whole.find("\n\"32,2\"");
  TempFolder folder;
  WriteFile(folder.File("package.json"), R"({"name": "package"})");
  WriteFile(folder.File("k.json"), whole.substr(0, second));
  ModelDataset dataset;
  ASSERT_TRUE(ForwardOnce({.paths = {folder.path()}, .origin = "ci/1"}, dataset.Sink()).ok());
  EXPECT_THAT(dataset.rows, SizeIs(1));
  WriteFile(folder.File("k.json"), whole);
  const absl::StatusOr<ForwardResult> result =
      ForwardOnce({.paths = {folder.File("k.json")}, .origin = "ci/1"}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.rows, 4U);
  EXPECT_EQ(result->groups, 1U);
  EXPECT_THAT(dataset.rows, SizeIs(4));
  EXPECT_THAT(dataset.details, SizeIs(4));
  EXPECT_THAT(dataset.attempts, SizeIs(1));
  EXPECT_EQ(dataset.conflicts, 0);
  EXPECT_EQ(dataset.attempts.begin()->second.dialect(), "kernel_tuner");
  EXPECT_EQ(dataset.runs.begin()->second.kernel_name(), "vector_add");
}

TEST(KernelTunerFiles, FlagsNameTheKernelOfAT4File) {
  ModelDataset dataset;
  IdentityFlags flags;
  flags.kernel_name = "mine";
  flags.hardware = "H200";
  const std::string path = Sample("kernel-tuner/vector_add_t4.json");
  ASSERT_TRUE(ForwardOnce({.paths = {path}, .identity = flags}, dataset.Sink()).ok());
  ASSERT_THAT(dataset.runs, SizeIs(1));
  EXPECT_EQ(dataset.runs.begin()->second.kernel_name(), "mine");
  EXPECT_EQ(dataset.runs.begin()->second.hardware(), "H200");
  ASSERT_TRUE(ForwardOnce({.paths = {path}}, dataset.Sink()).ok());
  EXPECT_THAT(dataset.runs, SizeIs(2));  // this one is called like the file
}

TEST(MeasurementFiles, ALineOfAnUnknownAttemptIsAReject) {
  TempFolder folder;
  WriteFile(folder.File("k.measurements.jsonl"), MeasurementLine(1) + AttemptLine() + MeasurementLine(2) + "torn");
  ModelDataset dataset;
  absl::StatusOr<ForwardResult> result = ForwardOnce({.paths = {folder.path()}}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.rows, 1U);
  EXPECT_EQ(result->counts.rejects, 2U);
  v1::Reject reject;
  bool found = false;
  for (const std::string& bytes : dataset.rejects) {
    found = found || (reject.ParseFromString(bytes) && reject.line() == 1);
    if (found) break;
  }
  EXPECT_THAT(reject.message(), HasSubstr(kAttemptId));
}

TEST(MeasurementFiles, EventsAreEventsOfTheirAttempt) {
  TempFolder folder;
  const std::string event = absl::StrCat(R"({"kind": "event", "attempt_id": ")", kAttemptId,
                                         R"(", "seq": 1, "name": "selected", "values": {"n": 4}})", "\n");
  WriteFile(folder.File("k.measurements.jsonl"), AttemptLine() + MeasurementLine(1) + event);
  ModelDataset dataset;
  const absl::StatusOr<ForwardResult> result = ForwardOnce({.paths = {folder.path()}}, dataset.Sink());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.rejects, 0U);
  ASSERT_THAT(dataset.events, SizeIs(1));
  EXPECT_EQ(dataset.events.begin()->second + "\n", event);
}

TEST(MeasurementFiles, TheEndOfAFileWithoutAWriterAbandonsNothing) {
  TempFolder folder;
  WriteFile(folder.File("k.measurements.jsonl"), AttemptLine());
  ModelDataset dataset;
  ASSERT_TRUE(ForwardOnce({.paths = {folder.path()}}, dataset.Sink()).ok());
  EXPECT_EQ(dataset.attempts.begin()->second.state(), v1::Attempt::STATE_OPEN);
}

}  // namespace
}  // namespace telemetry::worker::forward
