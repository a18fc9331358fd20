#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/tables/unsent_producers.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Record Changed(v1::Record record, const std::function<void(v1::Record&)>& change) {
  change(record);
  return record;
}

std::vector<v1::Reject::Reason> Reasons(const BatchOutcome& outcome) {
  std::vector<v1::Reject::Reason> reasons;
  for (const RefusedRecord& refused : outcome.refused) reasons.push_back(refused.reason);
  return reasons;
}

v1::Record Provisional(char attempt, char run, const std::vector<char>& supersedes = {}) {
  v1::Record record = AttemptRecord(attempt, run);
  record.mutable_attempt()->set_provisional(true);
  for (char id : supersedes) record.mutable_attempt()->add_supersedes(AttemptId(id));
  return record;
}

TEST(Writer, SendingTheSameAgainChangesNothing) {
  DatasetStory story;
  const std::vector<v1::Record> log = {RunRecord('a'), AttemptRecord('x', 'a'),
                                       ConfigRecord(7, "Config(n=[1, 2], w=4)"), Row('x', 1, 0.5), Row('x', 2, 0.25)};
  EXPECT_EQ(story.Send(log).committed_seq, 5u);
  const std::string before = story.Export();
  EXPECT_EQ(story.SendAt(1, log).committed_seq, 5u);     // the same part of the log
  EXPECT_THAT(story.SendAt(6, log).refused, IsEmpty());  // the same records with other sequence numbers
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "2");
  EXPECT_EQ(story.Export(), before);
}

TEST(Writer, AFailureOfAnyLengthIsOneOfTheRow) {
  DatasetStory story;
  const auto failed = [](uint64_t seq, size_t bytes) {
    return Changed(Row('x', seq, 0.5), [bytes](v1::Record& record) {
      record.mutable_measurement()->mutable_failure()->set_message(std::string(bytes, 'x') + "end");
    });
  };
  story.Send({RunRecord('a'), AttemptRecord('x', 'a')});
  for (const size_t bytes : {size_t{0}, size_t{400}, size_t{10000}, size_t{1} << 20}) {
    const v1::Record row = failed(bytes + 1, bytes);
    EXPECT_THAT(story.Send({row}).refused, IsEmpty()) << bytes;
    EXPECT_THAT(story.Export(), HasSubstr(absl::StrCat("message: \"", std::string(bytes, 'x'), "end\""))) << bytes;
    EXPECT_EQ(story.Send({row}).repeated, 1u) << bytes;
    EXPECT_THAT(Reasons(story.Send({failed(bytes + 1, bytes + 1)})), ElementsAre(v1::Reject::REASON_CONFLICT)) << bytes;
  }
}

TEST(Writer, AConfigWithALongArgumentIsReadAsItWasSent) {
  DatasetStory story;
  for (const size_t bytes : {size_t{800}, size_t{1000}, size_t{60000}}) {
    const v1::Record config = ConfigRecord(bytes, absl::StrCat("Config(n=4, s='", std::string(bytes, 'x'), "')"));
    EXPECT_THAT(story.Send({config}).refused, IsEmpty()) << bytes;
    EXPECT_EQ(story.Send({config}).repeated, 1u) << bytes;
    EXPECT_EQ(story.Query(absl::StrCat("SELECT text FROM config_texts WHERE config = (SELECT config FROM configs WHERE "
                                       "config_id = ",
                                       bytes, ")")),
              config.config().text());
  }
  // Those of the short one, which have rows of their own.
  EXPECT_EQ(story.Query("SELECT count(*) FROM config_arguments"), "2");
}

TEST(Writer, RecordsThatChangeNothingAreCounted) {
  DatasetStory story;
  std::vector<v1::Record> log = {RunRecord('a'),          ConfigRecord(7, "Config(n=[1, 2], w=4)"),
                                 AttemptRecord('x', 'a'), Row('x', 1, 0.5),
                                 Row('x', 2, 0.25),       DetailRecord('x', 1),
                                 GraphRecord('a')};
  log.push_back(RunConfigRecord('a', 7, "@kernel"));
  log.emplace_back().mutable_source_hash()->set_attempt_id(AttemptId('x'));
  log.back().mutable_source_hash()->set_seq(1);
  log.back().mutable_source_hash()->set_source_hash("00ff");
  const BatchOutcome first = story.Send(log);
  EXPECT_EQ(first.repeated, 0u);
  EXPECT_EQ(first.new_rows, 2u);
  EXPECT_EQ(first.known_rows, 0u);
  const BatchOutcome again = story.Send(log);
  EXPECT_EQ(again.repeated, log.size());
  EXPECT_EQ(again.new_rows, 0u);
  EXPECT_EQ(again.known_rows, 2u);
  log.push_back(Row('x', 3, 0.5));
  log.push_back(Row('x', 3, 0.5));
  log.push_back(Row('x', 2, 0.75));  // refused
  const BatchOutcome outcome = story.Send(log);
  EXPECT_EQ(outcome.repeated, log.size() - 2);
  EXPECT_EQ(outcome.new_rows, 1u);
  EXPECT_EQ(outcome.known_rows, 3u);
  EXPECT_EQ(outcome.refused.size(), 1u);
}

TEST(Writer, ABatchThatOverlapsIsContinued) {
  DatasetStory story;
  story.Send({RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1)});
  EXPECT_EQ(story.SendAt(2, {AttemptRecord('x', 'a'), Row('x', 1, 1), Row('x', 2, 1)}).committed_seq, 4u);
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "2");
}

TEST(Writer, AGapIsRefusedNamingWhatIsExpected) {
  DatasetStory story;
  story.Send({RunRecord('a')});
  const BatchOutcome outcome = story.SendAt(3, {RunRecord('b')});
  EXPECT_TRUE(absl::IsOutOfRange(outcome.status));
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("expected sequence number 2"));
  EXPECT_EQ(story.Query("SELECT count(*) FROM runs"), "1");
}

TEST(Writer, AHigherEpochFencesTheLower) {
  DatasetStory story;
  ASSERT_TRUE(story.writer().OpenProducer(story.producer_id(), 5, "newer").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(story.SendAt(1, {RunRecord('a')}, 4).status));
  EXPECT_TRUE(absl::IsFailedPrecondition(story.writer().OpenProducer(story.producer_id(), 4, "older").status()));
  EXPECT_TRUE(story.SendAt(1, {RunRecord('a')}, 5).status.ok());
}

// Opens as many other producers as may exist without having sent anything, and some more. Returns the outcomes.
std::vector<OpenOutcome> OpenManyOthers(DatasetStory& story, const std::string& sender = "") {
  constexpr size_t kSome = 10;
  std::vector<ProducerOpening> openings;
  for (size_t i = 0; i < UnsentProducers::kMostOfSender + kSome; ++i) {
    std::string id = absl::StrCat("other ", i, sender);
    id.resize(16, '.');
    openings.push_back({std::move(id), 1, "other", sender});
  }
  auto outcomes = story.writer().OpenProducers(openings);
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  return outcomes.ok() ? *std::move(outcomes) : std::vector<OpenOutcome>();
}

TEST(Writer, ProducersThatSendNothingAreBoundedAndOpenAgain) {
  DatasetStory story;
  OpenManyOthers(story);
  EXPECT_EQ(story.Query("SELECT count(*) FROM producers"), absl::StrCat(UnsentProducers::kMostOfSender));
  EXPECT_TRUE(absl::IsUnavailable(story.SendAt(1, {RunRecord('a')}).status)) << "the oldest was removed";
  story.Restart();
  EXPECT_TRUE(story.Send({RunRecord('a')}).status.ok());
  OpenManyOthers(story);
  EXPECT_EQ(story.Query("SELECT count(*) FROM producers WHERE committed_seq = 1"), "1")
      << "a producer that has sent records stays";
  EXPECT_TRUE(story.Send({RunRecord('b')}).status.ok());
}

TEST(Writer, ASenderWhoseProducersSendNothingReplacesThemSlowly) {
  DatasetStory story;
  const std::vector<OpenOutcome> outcomes = OpenManyOthers(story, "flood");
  const auto refused = [](const OpenOutcome& outcome) { return absl::IsResourceExhausted(outcome.status); };
  EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(), refused), 9) << "one of those above the limit came";
  EXPECT_TRUE(absl::IsResourceExhausted(outcomes.back().status));
  EXPECT_TRUE(story.Send({RunRecord('a')}).status.ok()) << "other senders are not affected";
  const auto others = OpenManyOthers(story, "other");
  EXPECT_TRUE(others.front().status.ok());
}

TEST(Writer, AnEpochThatWasForgottenFencesWhenItIsOpenedAgain) {
  DatasetStory story;
  ASSERT_TRUE(story.writer().OpenProducer(story.producer_id(), 5, "newer").ok());
  OpenManyOthers(story);
  absl::StatusOr<uint64_t> older = story.writer().OpenProducer(story.producer_id(), 4, "older");
  while (absl::IsResourceExhausted(older.status())) {
    older = story.writer().OpenProducer(story.producer_id(), 4, "older");
  }
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_TRUE(story.SendAt(1, {RunRecord('a')}, 4).status.ok());
  const BatchOutcome newer = story.SendAt(1, {RunRecord('b')}, 5);
  EXPECT_TRUE(absl::IsUnavailable(newer.status)) << "its record 1 is not the one that is stored";
  EXPECT_EQ(story.writer().OpenProducer(story.producer_id(), 5, "newer").value_or(99), 1u);
  EXPECT_TRUE(absl::IsFailedPrecondition(story.SendAt(2, {RunRecord('c')}, 4).status));
}

TEST(Writer, ProducersThatOpenTogetherAreEachAnswered) {
  DatasetStory story;
  story.Send({RunRecord('a'), RunRecord('b')});  // with epoch 1
  const std::string other(16, 'o');
  const auto outcomes = story.writer().OpenProducers(
      {{story.producer_id(), 3, "test"}, {other, 1, "other"}, {story.producer_id(), 2, "older"}, {other, 1, "other"}});
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  ASSERT_EQ(outcomes->size(), 4u);
  for (const size_t opened : {0, 1, 3}) EXPECT_TRUE((*outcomes)[opened].status.ok()) << opened;
  EXPECT_EQ((*outcomes)[0].committed_seq, 2u);
  EXPECT_EQ((*outcomes)[1].committed_seq, 0u);
  EXPECT_TRUE(absl::IsFailedPrecondition((*outcomes)[2].status));
  EXPECT_EQ((*outcomes)[3].committed_seq, 0u);
  EXPECT_EQ(story.Query("SELECT min(epoch) || ',' || max(epoch) FROM producers"), "1,3");
}

TEST(Writer, ProgressAndIdentityOutliveARestart) {
  DatasetStory story;
  const std::string dataset_id = story.writer().dataset_id();
  EXPECT_EQ(dataset_id.size(), 16u);
  story.Send({RunRecord('a'), AttemptRecord('x', 'a'), Row('x', 1, 1)});
  story.Restart();
  EXPECT_EQ(story.writer().dataset_id(), dataset_id);
  EXPECT_EQ(story.writer().OpenProducer(story.producer_id(), 1, "test").value_or(0), 3u);
  EXPECT_THAT(story.Send({Row('x', 2, 1)}).refused, IsEmpty());
}

TEST(Writer, RunsAreMergedFieldByField) {
  DatasetStory story;
  v1::Record bare;
  bare.mutable_run()->set_run_id(RunId('a'));
  story.Send({bare, RunRecord('a')});
  EXPECT_EQ(story.Query("SELECT name FROM kernels"), "softmax");
  const v1::Record shapes = Changed(bare, [](v1::Record& r) { r.mutable_run()->set_input_shapes("[(1,)]"); });
  EXPECT_THAT(story.Send({shapes, shapes}).refused, IsEmpty());
  EXPECT_EQ(story.Query("SELECT input_shapes || hardware FROM runs"), "[(1,)]NVIDIA H200");
  EXPECT_EQ(story.Query("SELECT count(*) FROM kernels"), "1");
}

TEST(Writer, ARunWithAnotherSourceIsAConflictAndChangesNothing) {
  DatasetStory story;
  story.Send({RunRecord('a')});
  const std::string before = story.Export();
  const v1::Record other = Changed(RunRecord('a'), [](v1::Record& r) {
    r.mutable_run()->set_kernel_source("def other(x): ...");
    r.mutable_run()->set_dtypes("['torch.float16']");
    r.mutable_run()->set_settings_json("{}");
  });
  const BatchOutcome outcome = story.Send({other});
  EXPECT_THAT(Reasons(outcome), ElementsAre(v1::Reject::REASON_CONFLICT));
  EXPECT_THAT(outcome.refused[0].message, HasSubstr("kernel_source"));
  EXPECT_EQ(outcome.committed_seq, 2u);
  EXPECT_EQ(story.Export(), before);
  EXPECT_EQ(story.Query("SELECT reason FROM rejects"), "conflict");
  EXPECT_EQ(story.Query("SELECT length(raw) FROM rejects"), std::to_string(other.SerializeAsString().size()));
}

TEST(Writer, OfSeveralSettingsTheSmallestIsRead) {
  DatasetStory story;
  for (const char* settings : {R"({"b": 1})", R"({"a": 1})", R"({"c": 1})"}) {
    story.Send({Changed(RunRecord('a'), [&](v1::Record& r) { r.mutable_run()->set_settings_json(settings); })});
  }
  EXPECT_EQ(story.Query("SELECT count(*) FROM run_settings"), "3");
  EXPECT_THAT(story.Export(), HasSubstr(R"(settings_json: "{\"a\": 1}")"));
}

TEST(Writer, AnAttemptsStateOnlyMovesForward) {
  DatasetStory story;
  const auto state = [](v1::Attempt::State s) {
    return Changed(AttemptRecord('x', 'a'), [s](v1::Record& r) { r.mutable_attempt()->set_state(s); });
  };
  story.Send(
      {state(v1::Attempt::STATE_COMPLETE), state(v1::Attempt::STATE_OPEN), state(v1::Attempt::STATE_UNSPECIFIED)});
  EXPECT_EQ(story.Query("SELECT state FROM attempts"), "complete");
}

TEST(Writer, AnAttemptOfAnotherRunIsAConflict) {
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a')});
  EXPECT_THAT(Reasons(story.Send({AttemptRecord('x', 'b')})), ElementsAre(v1::Reject::REASON_CONFLICT));
  EXPECT_EQ(story.Query("SELECT count(*) FROM runs"), "1");
}

TEST(Writer, RowsOfAnUnknownAttemptAreRefused) {
  DatasetStory story;
  EXPECT_THAT(Reasons(story.Send({Row('x', 1, 1)})), ElementsAre(v1::Reject::REASON_UNKNOWN_REFERENCE));
  EXPECT_THAT(story.Send({AttemptRecord('x', 'a'), Row('x', 1, 1)}).refused, IsEmpty());
}

TEST(Writer, AnotherRowUnderTheSameNumberIsAConflict) {
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a'), Row('x', 1, 1.5)});
  EXPECT_THAT(Reasons(story.Send({Row('x', 1, 2.5)})), ElementsAre(v1::Reject::REASON_CONFLICT));
  EXPECT_EQ(story.Query("SELECT perf_ms FROM measurements"), "1.5");
}

TEST(Writer, ASupersededAttemptLeavesTheDatasetInWhateverOrder) {
  const std::vector<v1::Record> shorter = {Provisional('x', 'a'), Row('x', 1, 1)};
  const std::vector<v1::Record> longer = {Provisional('y', 'a', {'x'}), Row('y', 1, 1), Row('y', 2, 1)};
  DatasetStory in_order;
  in_order.Send(shorter);
  in_order.Send(longer);
  DatasetStory reversed;
  reversed.Send(longer);
  EXPECT_THAT(reversed.Send(shorter).refused, IsEmpty());
  DatasetStory only_longer;
  only_longer.Send(longer);
  EXPECT_EQ(in_order.Export(), only_longer.Export());
  EXPECT_EQ(reversed.Export(), only_longer.Export());
  EXPECT_THAT(in_order.Send({Row('x', 2, 1)}).refused, IsEmpty());  // late rows are acknowledged and skipped
  EXPECT_EQ(in_order.Query("SELECT count(*) FROM measurements"), "2");
}

TEST(Writer, AChainOfSupersededAttemptsLeavesOnlyTheLast) {
  DatasetStory story;
  story.Send({Provisional('z', 'a', {'y'}), Provisional('x', 'a'), Row('x', 1, 1)});
  story.Send({Provisional('y', 'a', {'x'}), Row('y', 1, 1)});  // it is superseded itself, but still removes x
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "1");
  EXPECT_THAT(story.Export(), HasSubstr(AttemptId('z')));
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "0");
}

TEST(Writer, ARecordSupersedesManyAttemptsAtOnce) {
  DatasetStory story;
  v1::Record by = AttemptRecord('z', 'a');
  std::vector<v1::Record> seen = {RunRecord('a')};
  for (char letter = 'a'; letter < 'u'; ++letter) {
    by.mutable_attempt()->add_supersedes(AttemptId(letter));
    // Only every second attempt was stored before.
    if (letter % 2 == 0) continue;
    v1::Record& attempt = seen.emplace_back(AttemptRecord(letter, 'a'));
    attempt.mutable_attempt()->set_provisional(letter != 'c');
    seen.push_back(Row(letter, 1, 0.5));
    seen.push_back(DetailRecord(letter, 1));
  }
  EXPECT_THAT(story.Send(seen).refused, IsEmpty());
  EXPECT_THAT(story.Send({by, Row('b', 1, 0.5), Row('c', 2, 0.5), Row('z', 1, 0.5)}).refused, IsEmpty());
  EXPECT_EQ(story.Query("SELECT count(*) FROM superseded_attempts"), "20");
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "2") << "one was not provisional";
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurements"), "3");
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurement_details"), "1");
}

TEST(Writer, OnlyProvisionalAttemptsOfTheSameRunAndOriginAreSuperseded) {
  DatasetStory story;
  const v1::Record elsewhere =
      Changed(Provisional('v', 'a'), [](v1::Record& r) { r.mutable_attempt()->set_origin("another job"); });
  story.Send({AttemptRecord('t', 'a'), Provisional('u', 'b'), elsewhere, Provisional('y', 'a', {'t', 'u', 'v'})});
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "4");
}

TEST(Writer, OneConfigInTwoOrdersOfArgumentsHasOneTextInWhateverOrder) {
  DatasetStory one;
  DatasetStory other;
  EXPECT_THAT(one.Send({ConfigRecord(7, "Config(a=1, b='x')"), ConfigRecord(7, "Config(b='x', a=1)")}).refused,
              IsEmpty());
  EXPECT_THAT(other.Send({ConfigRecord(7, "Config(b='x', a=1)"), ConfigRecord(7, "Config(a=1, b='x')")}).refused,
              IsEmpty());
  const char kText[] = "SELECT config_id || ' ' || text FROM config_texts";
  EXPECT_EQ(one.Query(kText), "0000000000000007 Config(a=1, b='x')");
  EXPECT_EQ(other.Query(kText), one.Query(kText));
  EXPECT_THAT(Reasons(one.Send({ConfigRecord(7, "Config(a=2)")})), ElementsAre(v1::Reject::REASON_CONFLICT));
}

TEST(Writer, AConfigTextThatCannotBeSplitIsKeptWhole) {
  DatasetStory story;
  story.Send({ConfigRecord(7, "Config()"), ConfigRecord(0xffffffffffffffff, "something else")});
  const std::string text_of = "SELECT text FROM config_texts WHERE config_id = ";
  EXPECT_EQ(story.Query(text_of + "'0000000000000007'"), "Config()");
  EXPECT_EQ(story.Query(text_of + "'ffffffffffffffff'"), "something else");
}

v1::Record Graph(const std::string& target) {
  v1::Record record;
  v1::IrGraph& graph = *record.mutable_ir_graph();
  graph.set_run_id(RunId('a'));
  graph.set_kind("device");
  graph.add_nodes()->set_target(target);
  graph.mutable_nodes(0)->add_omitted("shape");
  graph.add_edges()->set_source("0");
  return record;
}

TEST(Writer, OfTwoGraphsTheSameOneIsKeptInWhateverOrder) {
  DatasetStory one;
  DatasetStory other;
  one.Send({Graph("add"), Graph("mul")});
  other.Send({Graph("mul"), Graph("add")});
  EXPECT_EQ(one.Export(), other.Export());
  EXPECT_EQ(one.Query("SELECT count(*) FROM ir_nodes"), "1");
  EXPECT_THAT(one.Export(), HasSubstr("omitted: \"shape\""));
}

TEST(Writer, EqualRejectsAreOne) {
  DatasetStory story;
  v1::Record reject;
  reject.mutable_reject()->set_reason(v1::Reject::REASON_UNREADABLE);
  reject.mutable_reject()->set_raw("torn line");
  EXPECT_THAT(story.Send({reject, reject, Row('x', 1, 1), Row('x', 1, 1)}).refused.size(), 2u);
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects"), "2");
}

TEST(Writer, TheSameHashIsTakenAndAnotherRefused) {
  DatasetStory story;
  const auto hash = [](const std::string& digits) {
    v1::Record record;
    record.mutable_source_hash()->set_attempt_id(AttemptId('x'));
    record.mutable_source_hash()->set_seq(1);
    record.mutable_source_hash()->set_source_hash(digits);
    return record;
  };
  EXPECT_THAT(Reasons(story.Send({AttemptRecord('x', 'a'), hash("00ff"), hash("00ff"), hash("00fe")})),
              ElementsAre(v1::Reject::REASON_CONFLICT));
  EXPECT_THAT(story.Send({Row('x', 1, 1)}).refused, IsEmpty());
  EXPECT_THAT(story.Export(), HasSubstr("source_hash: \"00ff\""));
}

TEST(Writer, TheSameDetailIsTakenAndAnotherRefused) {
  const auto without = [](const std::function<void(v1::MeasurementDetail&)>& change) {
    return Changed(DetailRecord('x', 1), [&](v1::Record& r) { change(*r.mutable_measurement_detail()); });
  };
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a'), DetailRecord('x', 1), Row('x', 1, 1)});
  const std::string before = story.Export();
  EXPECT_THAT(before, HasSubstr("registers: 64"));
  EXPECT_THAT(story.Send({DetailRecord('x', 1)}).refused, IsEmpty());
  const BatchOutcome outcome = story.Send({
      without([](auto& detail) { detail.mutable_samples_ms()->RemoveLast(); }),
      without([](auto& detail) { detail.clear_spill_bytes(); }),
      without([](auto& detail) { detail.clear_tied_with_best(); }),
      without([](auto& detail) { detail.set_stage(v1::MeasurementDetail::STAGE_SEARCH); }),
      without([](auto& detail) { detail.set_occupancy(0.25); }),
  });
  EXPECT_EQ(Reasons(outcome), std::vector<v1::Reject::Reason>(5, v1::Reject::REASON_CONFLICT));
  EXPECT_EQ(story.Export(), before);
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurement_details"), "1");
}

TEST(Writer, ADetailWithFieldsOfANewerProducerIsTakenAgain) {
  const v1::Record newer = Changed(DetailRecord('x', 1), [](v1::Record& r) {
    auto* detail = r.mutable_measurement_detail();
    detail->GetReflection()->MutableUnknownFields(detail)->AddVarint(99, 1);
  });
  DatasetStory story;
  EXPECT_THAT(story.Send({AttemptRecord('x', 'a'), newer, newer}).refused, IsEmpty());
}

TEST(Writer, DetailsOfAnUnknownAttemptAreRefused) {
  DatasetStory story;
  EXPECT_THAT(Reasons(story.Send({DetailRecord('x', 1)})), ElementsAre(v1::Reject::REASON_UNKNOWN_REFERENCE));
}

TEST(Writer, ASupersededAttemptTakesItsDetailsAlong) {
  DatasetStory story;
  story.Send({Provisional('x', 'a'), Row('x', 1, 1), DetailRecord('x', 1), Provisional('y', 'a', {'x'})});
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurement_details"), "0");
  EXPECT_THAT(story.Send({DetailRecord('x', 2)}).refused, IsEmpty());  // late details are acknowledged and skipped
  EXPECT_EQ(story.Query("SELECT count(*) FROM measurement_details"), "0");
}

TEST(Writer, ATextWithANulIsRefusedWithItsFieldsName) {
  DatasetStory story;
  const std::string nul("a\0b", 3);
  v1::Record reject;
  reject.mutable_reject()->set_message(nul);
  const BatchOutcome outcome = story.Send(
      {Changed(RunRecord('a'), [&](v1::Record& r) { r.mutable_run()->set_hardware(nul); }), AttemptRecord('x', 'a'),
       Changed(Row('x', 1, 1), [&](v1::Record& r) { r.mutable_measurement()->set_status(nul); }),
       Changed(GraphRecord('a'), [&](v1::Record& r) { r.mutable_ir_graph()->mutable_nodes(1)->set_target(nul); }),
       reject});
  std::vector<std::string> messages;
  for (const RefusedRecord& refused : outcome.refused) messages.push_back(refused.message);
  EXPECT_THAT(messages,
              ElementsAre("hardware holds a NUL", "status holds a NUL", "target holds a NUL", "message holds a NUL"));
  EXPECT_EQ(story.Query("SELECT count(*) FROM rejects WHERE reason = 'invalid'"), "4");
}

}  // namespace
}  // namespace telemetry::storage::tables
