#include "client/producer.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/record_limit.h"
#include "telemetry/v1/status.pb.h"
#include "tests/client/producer_fixture.h"

namespace telemetry::client {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Act = FakeCollector::Act;

TEST_F(ProducerTest, DeliversInOrder) {
  collector_.Start();
  Open();
  Append("a");
  Append("b");
  ASSERT_TRUE(producer_->AppendBatch(std::vector{MakeRecord("c"), MakeRecord("d")}).ok());
  Drain();
  EXPECT_THAT(collector_.AwaitStored(4), ElementsAre("a", "b", "c", "d"));
  const ProducerStats stats = producer_->stats();
  EXPECT_EQ(stats.appended_seq, 4);
  EXPECT_EQ(stats.committed_seq, 4);
  EXPECT_EQ(stats.spool_bytes, 0);
  EXPECT_TRUE(stats.connected);
  EXPECT_THAT(notices(), IsEmpty());
}

TEST_F(ProducerTest, ACollectorThatComesLaterGetsEverything) {
  Open();
  Append("a");
  AwaitNotice("cannot accept records now");
  Append("b");
  const absl::Status early = producer_->Drain(absl::ZeroDuration());
  EXPECT_EQ(early.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(early.message()), HasSubstr("2 records waiting"));
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
  EXPECT_THAT(notices(), ElementsAre(HasSubstr("cannot accept records now"), HasSubstr("is back")));
}

TEST_F(ProducerTest, WhoWaitsForACollectorIsToldEveryFewSeconds) {
  Open();
  Append("a");
  EXPECT_TRUE(absl::IsDeadlineExceeded(producer_->Drain(absl::Seconds(6))));
  EXPECT_THAT(notices(), Contains(AllOf(HasSubstr("waiting for the collector"), HasSubstr("1 record waiting"))));
}

TEST_F(ProducerTest, TheNextProcessSendsWhatThisOneLeft) {
  Open();
  Append("a");
  Append("b");
  Open();
  Append("c");
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(3), ElementsAre("a", "b", "c"));
}

TEST_F(ProducerTest, ARestartedCollectorIsFoundAgain) {
  collector_.Start();
  Open();
  Append("a");
  Drain();
  collector_.Stop();
  Append("b");
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
  EXPECT_GE(producer_->stats().reconnects, 1);
}

TEST_F(ProducerTest, AnAckThatIsCutOffStoresNothingTwice) {
  collector_.OnNextBatches({Act::kCutAfter, Act::kCutAfter, Act::kCutAfter});
  collector_.Start();
  Open();
  for (const char* name : {"a", "b", "c", "d"}) {
    Append(name);
    Drain();
  }
  EXPECT_THAT(collector_.AwaitStored(4), ElementsAre("a", "b", "c", "d"));
}

TEST_F(ProducerTest, AnAckThatIsCutOffIsReportedWhenTheCollectorIsAskedAgain) {
  std::atomic<uint64_t> committed = 0;
  options_.on_committed = [&](uint64_t seq) { committed = seq; };
  collector_.OnNextBatches({Act::kCutAfter});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_EQ(committed, 1);
}

TEST_F(ProducerTest, DamageOnTheWayAndGapsAreSentAgain) {
  collector_.OnNextBatches({Act::kWrongCrc, Act::kGap, Act::kAck, Act::kGap, Act::kWrongCrc});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  Append("b");
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
}

TEST_F(ProducerTest, AProducerWhoseLogIsTakenOverGoesOnAsANewLog) {
  collector_.OnNextBatches({Act::kFence, Act::kAck, Act::kTwin});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  Append("b");
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
  const std::vector<v1::Open> opens = collector_.opens();
  ASSERT_EQ(opens.size(), 3);
  EXPECT_NE(opens[1].producer_id(), opens[0].producer_id());
  EXPECT_NE(opens[2].producer_id(), opens[1].producer_id());
  EXPECT_THAT(notices(),
              ElementsAre(AllOf(HasSubstr("another copy of this spool"), HasSubstr("begins with 1 waiting record")),
                          AllOf(HasSubstr("another copy of this spool"), HasSubstr("begins with 1 waiting record"))));
}

TEST_F(ProducerTest, ARestoredSnapshotDeliversAtOnce) {
  collector_.Start();
  Open();
  Append("a");
  Drain();
  producer_.reset();
  const std::string snapshot = folder_.path() + "/snapshot";
  std::filesystem::copy(options_.spool_dir, snapshot, std::filesystem::copy_options::recursive);
  for (const char* const name : {"b", "c", "d"}) {
    Open();
    Append(name);
    Drain();
  }
  producer_.reset();
  std::filesystem::remove_all(options_.spool_dir);
  std::filesystem::rename(snapshot, options_.spool_dir);
  Open();
  Append("e");
  Drain();
  EXPECT_THAT(collector_.AwaitStored(5), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(collector_.opens().size(), 6) << "four of the log, one that is refused, and the new log's";
  AwaitNotice("another copy of this spool");
}

TEST_F(ProducerTest, OfAClonedMachineBothDeliver) {
  collector_.Start();
  Open();
  Append("a");
  Drain();
  producer_.reset();
  ProducerOptions clone = options_;
  clone.spool_dir = folder_.path() + "/clone";
  std::filesystem::copy(options_.spool_dir, clone.spool_dir, std::filesystem::copy_options::recursive);
  Open();
  absl::StatusOr<std::unique_ptr<Producer>> other = Producer::Open(clone);
  ASSERT_TRUE(other.ok()) << other.status();
  std::vector<std::string> names = {"a"};
  for (int i = 0; i < 20; ++i) {
    names.push_back(absl::StrCat("one ", i));
    Append(names.back());
    names.push_back(absl::StrCat("other ", i));
    ASSERT_TRUE((*other)->Append(MakeRecord(names.back())).ok());
    if (i % 5 == 0) Drain();
  }
  Drain();
  EXPECT_TRUE((*other)->Drain(kLong).ok());
  std::vector<std::string> stored = collector_.AwaitStored(names.size());
  // The fake collector stores duplicates; a real collector recognises records by content.
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  EXPECT_THAT(stored, testing::UnorderedElementsAreArray(names));
}

TEST_F(ProducerTest, ComesBackNoSoonerThanAsked) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_nanos(300'000'000);
  v1::RpcStatus details;
  google::protobuf::Any* detail = details.add_details();
  detail->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  detail->set_value(info.SerializeAsString());
  collector_.OnNextOpens(
      {{grpc::StatusCode::RESOURCE_EXHAUSTED, "overload", details.SerializeAsString()}, grpc::Status::OK});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  const std::vector<absl::Time> opens = collector_.open_times();
  ASSERT_EQ(opens.size(), 2);
  EXPECT_GE(opens[1] - opens[0], absl::Milliseconds(300));
}

TEST_F(ProducerTest, ErrorsThatSomebodyMustMendAreSaidAndRetried) {
  collector_.OnNextOpens({{grpc::StatusCode::UNIMPLEMENTED, "no such service"},
                          {grpc::StatusCode::INVALID_ARGUMENT, "bad producer_id"},
                          grpc::Status::OK});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_THAT(notices(), ElementsAre(HasSubstr("no such service"), HasSubstr("bad producer_id"), HasSubstr("is back")));
}

TEST_F(ProducerTest, AStreamThatRestedIsOpenedAgainWhenThereIsSomethingToSay) {
  collector_.OnNextBatches({FakeCollector::Act::kRest});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  while (producer_->stats().connected) std::this_thread::yield();
  EXPECT_EQ(collector_.opens().size(), 1u);
  Append("b");
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
  EXPECT_EQ(collector_.opens().size(), 2u);
  EXPECT_THAT(notices(), IsEmpty());
}

TEST_F(ProducerTest, ANoticeNamesTheStreamAsTheCollectorsLogDoes) {
  collector_.OnNextOpens({{grpc::StatusCode::INVALID_ARGUMENT, "bad producer_id"}, grpc::Status::OK});
  collector_.SetRequestId("9f3c0a11-7");
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_THAT(notices(), ElementsAre(HasSubstr("(request 9f3c0a11-7)"), HasSubstr("is back")));
}

TEST_F(ProducerTest, AnIdThatIsNoneIsNotShown) {
  collector_.OnNextOpens({{grpc::StatusCode::INVALID_ARGUMENT, "bad producer_id"}, grpc::Status::OK});
  collector_.SetRequestId("all is well; pay here");
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_THAT(notices(), ElementsAre(testing::Not(HasSubstr("pay here")), HasSubstr("is back")));
}

TEST_F(ProducerTest, RefusedRecordsAreReportedAndDoNotStopTheLog) {
  collector_.OnNextBatches({Act::kRefuse});
  collector_.Start();
  Open();
  Append("a");
  Drain();
  Append("b");
  Drain();
  EXPECT_THAT(refused(), ElementsAre("1: refused a"));
  EXPECT_EQ(producer_->stats().refused, 1);
}

TEST_F(ProducerTest, TheWindowAndTheBatchLimitAreKept) {
  collector_.SetWindow(/*window_bytes=*/10000, /*max_batch_bytes=*/3000);
  collector_.OnNextBatches({Act::kSwallow, Act::kSwallow});
  Open();
  std::vector<v1::Record> records(500, MakeRecord(std::string(100, 'x')));
  ASSERT_TRUE(producer_->AppendBatch(records).ok());
  collector_.Start();
  Drain();
  EXPECT_EQ(collector_.AwaitStored(500).size(), 500);
  EXPECT_LE(collector_.largest_batch(), 3000);
  EXPECT_LE(collector_.most_unacked(), 10000);
  EXPECT_GT(collector_.most_unacked(), 3000) << "several batches are under way at once";
}

// Checks that a record above the collector's limits is reported once, and that it is kept and offered again. Only the
// collector's operator can repair this.
class TooLargeRecordTest : public ProducerTest {
 protected:
  void ExpectToWaitForLargerLimits(uint64_t window_bytes, uint64_t max_batch_bytes) {
    collector_.SetWindow(window_bytes, max_batch_bytes);
    collector_.Start();
    Open();
    Append("small");
    Append(std::string(5000, 'x'));
    Append("after");
    collector_.AwaitOpens(5);
    EXPECT_THAT(collector_.AwaitStored(1), ElementsAre("small"));
    EXPECT_THAT(notices(), ElementsAre(AllOf(HasSubstr("record 2 has 50"), HasSubstr(absl::StrCat(window_bytes)),
                                             HasSubstr(absl::StrCat(max_batch_bytes)), HasSubstr("--max-batch-bytes"),
                                             HasSubstr("--window-bytes"))));
    collector_.SetWindow(10000, 10000);
    Drain();
    EXPECT_EQ(collector_.AwaitStored(3).size(), 3);
    EXPECT_THAT(notices(), ElementsAre(HasSubstr("record 2"), HasSubstr("is back")));
  }
};

TEST_F(TooLargeRecordTest, ARecordLargerThanTheCollectorsBatchWaitsForALargerOne) {
  ExpectToWaitForLargerLimits(/*window_bytes=*/10000, /*max_batch_bytes=*/1000);
}

TEST_F(TooLargeRecordTest, ARecordLargerThanTheCollectorsWindowWaitsForALargerOne) {
  ExpectToWaitForLargerLimits(/*window_bytes=*/1000, /*max_batch_bytes=*/10000);
}

TEST_F(ProducerTest, ACollectorThatAnswersButTakesNothingIsSaidOnce) {
  collector_.OnNextBatches(std::deque<Act>(5, Act::kOverload));
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_EQ(collector_.opens().size(), 6);
  EXPECT_THAT(notices(), ElementsAre(HasSubstr("overload"), HasSubstr("is back")));
}

TEST_F(ProducerTest, AtTheSpoolsLimitAppendWaits) {
  options_.spool_limit_bytes = kMinSpoolLimitBytes;
  collector_.OnNextOpens({{grpc::StatusCode::UNAVAILABLE, "not yet"}});
  collector_.Start();
  Open();
  std::atomic<int> appended = 0;
  std::thread appender([&] {
    for (; appended < 100; ++appended) Append(std::string(4000, 'x'));
  });
  AwaitNotice("at its limit");
  EXPECT_LE(producer_->stats().spool_bytes, kMinSpoolLimitBytes);
  EXPECT_LT(appended, 20);
  collector_.OnNextOpens({});
  appender.join();
  Drain();
  EXPECT_EQ(collector_.AwaitStored(100).size(), 100);
  EXPECT_THAT(notices(), Contains(HasSubstr("at its limit")).Times(1));
}

TEST_F(ProducerTest, ALimitThatLetsNothingPassIsRefused) {
  options_.spool_limit_bytes = 0;
  EXPECT_EQ(Producer::Open(options_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProducerTest, ALargerRecordThanAllowedIsRefusedHere) {
  Open();
  EXPECT_EQ(producer_->Append(MakeRecord(std::string(record::kMaxRecordBytes + 1, 'x'))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(producer_->stats().appended_seq, 0);
}

TEST_F(ProducerTest, AnotherDatabaseGetsWhatWaitsAsANewLog) {
  collector_.Start();
  Open();
  Append("a");
  Drain();
  collector_.Stop();
  collector_.ReplaceDatabase();
  Append("b");
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(2), ElementsAre("a", "b"));
  EXPECT_NE(collector_.opens().front().producer_id(), collector_.opens().back().producer_id());
  AwaitNotice("another database");
}

// The caller can append the records again that only the old database has.
TEST_F(ProducerTest, ANewDatabaseIsToldOnceAndBeforeItGetsRecords) {
  std::vector<size_t> stored_when_told;
  options_.on_new_dataset = [&] { stored_when_told.push_back(collector_.AwaitStored(0).size()); };
  collector_.Start();
  Open();
  Append("a");
  Drain();
  EXPECT_THAT(stored_when_told, IsEmpty());
  collector_.Stop();
  collector_.ReplaceDatabase();
  Append("b");
  collector_.Start();
  Drain();
  Open();  // the next process does not report the change
  Append("c");
  Drain();
  producer_.reset();
  EXPECT_THAT(stored_when_told, ElementsAre(1));
}

TEST_F(ProducerTest, ADatabaseThatWentBackGetsAllThatIsStillHere) {
  collector_.Start();
  Open();
  for (const char* name : {"a", "b", "c"}) Append(name);
  Drain();
  collector_.Stop();
  collector_.RollBack(1);
  Append("d");
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(6), ElementsAre("a", "b", "c", "b", "c", "d"));
}

TEST_F(ProducerTest, ADatabaseThatWentBackTooFarIsSaid) {
  options_.spool_limit_bytes = kMinSpoolLimitBytes;  // small files, which are removed as they are acknowledged
  std::atomic<int> told = 0;
  options_.on_new_dataset = [&] { ++told; };
  collector_.Start();
  Open();
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    Append(name + std::string(20'000, '.'));
    Drain();
  }
  collector_.Stop();
  collector_.RollBack(0);
  Append("i");
  collector_.Start();
  Drain();
  EXPECT_EQ(collector_.AwaitStored(9).back(), "i");
  AwaitNotice("has lost records that it had acknowledged");
  EXPECT_EQ(told, 1);
}

// A power cut loses records that the collector has, and other records receive their numbers.
TEST_F(ProducerTest, NumbersThatWereLostHereAreNotUsedAgain) {
  Open();
  Append("a");
  producer_.reset();
  const absl::StatusOr<std::string> producer_id = [&]() -> absl::StatusOr<std::string> {
    const absl::StatusOr<std::unique_ptr<Spool>> spool = Spool::Open({.folder = options_.spool_dir});
    if (!spool.ok()) return spool.status();
    return (*spool)->meta().producer_id;
  }();
  ASSERT_TRUE(producer_id.ok()) << producer_id.status();
  collector_.Pretend(*producer_id, 3);
  Open();
  for (const char* name : {"b", "c", "d"}) Append(name);
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(4), ElementsAre("a", "b", "c", "d"));
  AwaitNotice("lost here");
}

TEST_F(ProducerTest, DamageInTheSpoolCostsOneRecordAndTheLogGoesOn) {
  Open();
  for (const char* name : {"a", "b", "c"}) Append(name);
  producer_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(options_.spool_dir)) {
    if (entry.path().extension() != ".seg") continue;
    std::string bytes = Contents(entry.path().string());
    bytes[bytes.size() / 2 + kSegmentHeaderBytes / 2] ^= 1;  // in "b"
    SetContents(entry.path().string(), bytes);
  }
  Open();
  Append("d");
  collector_.Start();
  Drain();
  EXPECT_THAT(collector_.AwaitStored(3), ElementsAre("a", "c", "d"));
  AwaitNotice("has lost 1 record;");
}

TEST_F(ProducerTest, ASecondProcessIsKeptOut) {
  Open();
  const absl::Status second = Producer::Open(options_).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.message()),
              AllOf(HasSubstr(absl::StrCat("process ", getpid(), ";")), HasSubstr("--state-dir")));
}

TEST_F(ProducerTest, FlushMakesRecordsDurableWithoutACollector) {
  options_.sync_interval = absl::Hours(1);
  Open();
  Append("a");
  EXPECT_EQ(producer_->stats().durable_seq, 0);
  ASSERT_TRUE(producer_->Flush().ok());
  EXPECT_EQ(producer_->stats().durable_seq, 1);
}

TEST_F(ProducerTest, ManyThreadsAppendThroughRestarts) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  collector_.Start();
  Open();
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) Append(absl::StrCat(t, ":", i));
    });
  }
  for (size_t restart = 1; restart <= 3; ++restart) {
    collector_.AwaitStored(restart * 1000);
    collector_.Stop();
    collector_.Start();
  }
  for (std::thread& thread : threads) thread.join();
  Drain();
  std::vector<std::string> stored = collector_.AwaitStored(size_t{kThreads} * kEach);
  EXPECT_EQ(stored.size(), size_t{kThreads} * kEach);
  std::sort(stored.begin(), stored.end());
  EXPECT_EQ(std::unique(stored.begin(), stored.end()), stored.end());
}

}  // namespace
}  // namespace telemetry::client
