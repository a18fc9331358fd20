// Tests that one sender cannot change rows of another sender.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr v1::Reject::Reason kNotYours = v1::Reject::REASON_NOT_YOURS;

// A dataset with several senders, each with its own producer. The name "" stands for a sender without a name.
class SenderTest : public ::testing::Test {
 protected:
  static std::string MakeProducerId(const std::string& sender) {
    std::string id = sender;
    id.resize(16, '.');
    return id;
  }
  OpenOutcome Open(const std::string& producer, const std::string& sender, uint64_t epoch = 1) {
    return story_.writer()
        .OpenProducers({{.producer_id = MakeProducerId(producer), .epoch = epoch, .client = "test", .sender = sender}})
        ->front();
  }
  // Returns the reasons of the refused records.
  std::vector<v1::Reject::Reason> Send(const std::string& sender, const std::vector<v1::Record>& records) {
    const OpenOutcome opened = Open(sender, sender);
    EXPECT_TRUE(opened.status.ok()) << opened.status;
    ProducerBatch batch = {.producer_id = MakeProducerId(sender), .epoch = 1, .first_seq = opened.committed_seq + 1};
    AddRecords(records, &batch);
    const auto outcomes = story_.writer().CommitBatches({batch});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    EXPECT_TRUE(outcomes->front().status.ok()) << outcomes->front().status;
    std::vector<v1::Reject::Reason> reasons;
    for (const RefusedRecord& refused : outcomes->front().refused) reasons.push_back(refused.reason);
    return reasons;
  }
  // Checks that the record is refused and that the dataset stays unchanged.
  void ExpectKeptFrom(const std::string& sender, const v1::Record& record) {
    const std::string before = story_.Export();
    EXPECT_THAT(Send(sender, {record}), ElementsAre(kNotYours)) << record.DebugString();
    EXPECT_EQ(story_.Export(), before);
  }
  static v1::Record Attempt(char attempt, v1::Attempt::State state, bool provisional = false) {
    v1::Record record = AttemptRecord(attempt, 'a');
    record.mutable_attempt()->set_state(state);
    record.mutable_attempt()->set_provisional(provisional);
    return record;
  }
  static v1::Record Superseding(char attempt, char shorter) {
    v1::Record record = Attempt(attempt, v1::Attempt::STATE_OPEN, true);
    record.mutable_attempt()->add_supersedes(AttemptId(shorter));
    return record;
  }
  static v1::Record MakeHashRecord(char attempt, uint64_t seq, const std::string& hash) {
    v1::Record record;
    record.mutable_source_hash()->set_attempt_id(AttemptId(attempt));
    record.mutable_source_hash()->set_seq(seq);
    record.mutable_source_hash()->set_source_hash(hash);
    return record;
  }
  std::string Count(const std::string& what) { return story_.Query("SELECT count(*) FROM " + what); }

  DatasetStory story_;
};

TEST_F(SenderTest, AnAttemptIsContinuedByItsSenderAlone) {
  const std::vector<v1::Record> mine = {
      RunRecord('a'),   Attempt('x', v1::Attempt::STATE_OPEN), ConfigRecord(7, "Config(n=1)"),
      Row('x', 1, 0.5), MakeHashRecord('x', 1, "ab"),          DetailRecord('x', 1)};
  EXPECT_THAT(Send("one", mine), IsEmpty());
  ExpectKeptFrom("two", Attempt('x', v1::Attempt::STATE_ABANDONED));
  ExpectKeptFrom("two", Row('x', 2, 0.25));
  ExpectKeptFrom("two", MakeHashRecord('x', 2, "ab"));
  ExpectKeptFrom("two", DetailRecord('x', 2));
  ExpectKeptFrom("two", EventRecord('x', 2));
  ExpectKeptFrom("", Row('x', 2, 0.25));
  v1::Record seed = Attempt('x', v1::Attempt::STATE_OPEN);
  seed.mutable_attempt()->set_counters_json("{}");
  ExpectKeptFrom("two", seed);
  EXPECT_THAT(Send("one", {Attempt('x', v1::Attempt::STATE_COMPLETE), Row('x', 2, 0.25), MakeHashRecord('x', 2, "cd"),
                           DetailRecord('x', 2), EventRecord('x', 2)}),
              IsEmpty());
  // The row of sender "two" and the row without a sender's name give the same reject.
  EXPECT_EQ(Count("rejects WHERE reason = 'not_yours'"), "6");
}

TEST_F(SenderTest, TheSameSentByAnotherChangesNothingAndIsFine) {
  const std::vector<v1::Record> records = {RunRecord('a'),       Attempt('x', v1::Attempt::STATE_COMPLETE),
                                           Row('x', 1, 0.5),     MakeHashRecord('x', 1, "ab"),
                                           DetailRecord('x', 1), EventRecord('x', 1)};
  EXPECT_THAT(Send("one", records), IsEmpty());
  const std::string before = story_.Export();
  EXPECT_THAT(Send("two", records), IsEmpty());
  EXPECT_EQ(story_.Export(), before);
  EXPECT_THAT(Send("two", {Row('x', 1, 0.75)}), ElementsAre(v1::Reject::REASON_CONFLICT));
}

TEST_F(SenderTest, NobodyElsesAttemptIsSuperseded) {
  Send("one", {RunRecord('a'), Attempt('x', v1::Attempt::STATE_OPEN, true), Row('x', 1, 0.5)});
  EXPECT_THAT(Send("two", {Superseding('y', 'x')}), IsEmpty());
  EXPECT_EQ(Count("attempts"), "2");
  EXPECT_EQ(Count("measurements"), "1");
  Send("one", {Superseding('z', 'x')});
  EXPECT_EQ(Count("measurements"), "0");
}

TEST_F(SenderTest, AnAttemptThatComesLaterIsNotKeptAwayByAnother) {
  Send("two", {RunRecord('a'), Superseding('y', 'x')});
  EXPECT_THAT(Send("one", {Attempt('x', v1::Attempt::STATE_OPEN, true), Row('x', 1, 0.5)}), IsEmpty());
  EXPECT_EQ(Count("measurements"), "1");
  Send("one", {Superseding('z', 'w')});
  Send("one", {Attempt('w', v1::Attempt::STATE_OPEN, true)});
  EXPECT_EQ(Count("attempts"), "3");
}

TEST_F(SenderTest, ARepeatByAnotherSupersedesNothing) {
  Send("one", {RunRecord('a'), Attempt('x', v1::Attempt::STATE_OPEN, true), Row('x', 1, 0.5),
               Attempt('y', v1::Attempt::STATE_OPEN, true)});
  EXPECT_THAT(Send("two", {Superseding('y', 'x')}), IsEmpty());
  EXPECT_EQ(Count("measurements"), "1");
}

TEST_F(SenderTest, AnIrGraphStaysWhereItIs) {
  const auto graph = [](const std::string& target) {
    v1::Record record;
    record.mutable_ir_graph()->set_run_id(RunId('a'));
    record.mutable_ir_graph()->set_kind("device");
    record.mutable_ir_graph()->add_nodes()->set_target(target);
    return record;
  };
  Send("one", {RunRecord('a'), graph("mine")});
  const std::string before = story_.Export();
  // Some of these graphs have a smaller hash, which would replace the stored graph.
  for (int i = 0; i < 20; ++i) EXPECT_THAT(Send("two", {graph(std::string(i + 1, 'x'))}), IsEmpty());
  EXPECT_EQ(story_.Export(), before);
  for (int i = 0; i < 20; ++i) Send("one", {graph(std::string(i + 1, 'x'))});
  EXPECT_NE(story_.Export(), before);
}

TEST_F(SenderTest, TheOrderOfKeysStaysAsItWasSent) {
  const auto run_config = [](const char* keys) {
    v1::Record record = RunConfigRecord('a', 7);
    record.mutable_run_config()->set_record_keys_json(keys);
    return record;
  };
  Send("one", {RunRecord('a'), run_config(R"(["b", "a"])")});
  EXPECT_THAT(Send("two", {run_config(R"(["a", "b"])")}), IsEmpty());
  const char* kStored = "SELECT keys_json FROM run_configs JOIN key_lists USING (key_list)";
  EXPECT_EQ(story_.Query(kStored), R"(["b", "a"])");
  Send("one", {run_config(R"(["a", "b"])")});
  EXPECT_EQ(story_.Query(kStored), R"(["a", "b"])");
}

TEST_F(SenderTest, WhatNobodySentMayBeContinued) {
  Send("", {RunRecord('a'), Attempt('x', v1::Attempt::STATE_OPEN, true), Row('x', 1, 0.5)});
  EXPECT_THAT(Send("one", {Row('x', 2, 0.5), Attempt('x', v1::Attempt::STATE_COMPLETE)}), IsEmpty());
  EXPECT_EQ(Count("measurements"), "2");
}

TEST_F(SenderTest, AProducerBelongsToWhoOpenedItFirst) {
  ASSERT_TRUE(Open("p", "one").status.ok());
  EXPECT_TRUE(Open("p", "one", 2).status.ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Open("p", "two", 3).status));
  story_.Restart();
  EXPECT_TRUE(absl::IsPermissionDenied(Open("p", "two", 3).status));
  EXPECT_TRUE(Open("p", "one", 2).status.ok());
  // Without names, any client may send for any producer.
  EXPECT_TRUE(Open("p", "", 4).status.ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Open("p", "two", 5).status));
}

TEST_F(SenderTest, AProducerOfNobodyBecomesTheOnesWhoOpensIt) {
  ASSERT_TRUE(Open("p", "").status.ok());
  ASSERT_TRUE(Open("p", "one").status.ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Open("p", "two").status));
  EXPECT_EQ(story_.Query("SELECT name FROM producers JOIN senders USING (sender)"), "one");
}

}  // namespace
}  // namespace telemetry::storage::tables
