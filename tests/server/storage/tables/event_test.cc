// Tests of the events of attempts, and of attempts whose run is not known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/record/ids.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<v1::Reject::Reason> ReasonsOf(const BatchOutcome& outcome) {
  std::vector<v1::Reject::Reason> reasons;
  for (const RefusedRecord& refused : outcome.refused) reasons.push_back(refused.reason);
  return reasons;
}

// Returns a provisional attempt whose run is not known.
v1::Record Unlinked(char attempt) {
  v1::Record record = AttemptRecord(attempt, 'a');
  record.mutable_attempt()->set_run_id(record::UnknownRunId(AttemptId(attempt)));
  record.mutable_attempt()->set_provisional(true);
  return record;
}

v1::Record Superseding(char attempt, char run, char superseded) {
  v1::Record record = AttemptRecord(attempt, run);
  record.mutable_attempt()->add_supersedes(AttemptId(superseded));
  return record;
}

TEST(Writer, TheSameEventIsTakenAndAnotherRefused) {
  DatasetStory story;
  story.Send({AttemptRecord('x', 'a'), EventRecord('x', 1), EventRecord('x', 2)});
  const std::string before = story.Export();
  EXPECT_THAT(before, HasSubstr(R"(text: "{\"event\": \"selected\"}")"));
  EXPECT_THAT(before, HasSubstr("time_unix_us: 1795394163768282"));
  v1::Record renamed = EventRecord('x', 1);
  renamed.mutable_attempt_event()->set_name("other");
  v1::Record timeless = EventRecord('x', 1);
  timeless.mutable_attempt_event()->clear_time_unix_us();
  EXPECT_THAT(story.Send({EventRecord('x', 1)}).refused, IsEmpty());
  EXPECT_EQ(ReasonsOf(story.Send({EventRecord('x', 1, "{}"), renamed, timeless})),
            std::vector<v1::Reject::Reason>(3, v1::Reject::REASON_CONFLICT));
  EXPECT_EQ(story.Export(), before);
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempt_events"), "2");
}

TEST(Writer, EventsThatSayNothingAreInvalid) {
  v1::Record nameless = EventRecord('x', 1);
  nameless.mutable_attempt_event()->clear_name();
  v1::Record with_nul = EventRecord('x', 1, std::string("a\0b", 3));
  DatasetStory story;
  EXPECT_EQ(ReasonsOf(story.Send(
                {AttemptRecord('x', 'a'), EventRecord('x', 0), EventRecord('x', 1, ""), nameless, with_nul})),
            std::vector<v1::Reject::Reason>(4, v1::Reject::REASON_INVALID));
}

TEST(Writer, EventsOfAnUnknownAttemptAreRefused) {
  DatasetStory story;
  EXPECT_THAT(ReasonsOf(story.Send({EventRecord('x', 1)})), ElementsAre(v1::Reject::REASON_UNKNOWN_REFERENCE));
}

TEST(Writer, ManyLargeEventsComeBackInOrder) {
  DatasetStory story;
  std::vector<v1::Record> log = {AttemptRecord('x', 'a')};
  for (uint64_t seq = 600; seq > 0; --seq)
    log.push_back(EventRecord('x', seq, std::string(seq % 50 == 0 ? 300000 : 10, 'e')));
  EXPECT_THAT(story.Send(log).refused, IsEmpty());
  v1::ExportRequest request;
  const auto exported = [&] {
    std::vector<uint64_t> seqs;
    EXPECT_TRUE(story.OpenReader()
                    ->Export(request,
                             [&](const v1::ExportItem& item) {
                               for (const v1::AttemptEvent& event : item.events().events()) seqs.push_back(event.seq());
                               EXPECT_LT(item.ByteSizeLong(), 1000000u);
                               return absl::OkStatus();
                             })
                    .ok());
    return seqs;
  };
  EXPECT_THAT(exported(), IsEmpty()) << "not asked for";
  request.set_events(true);
  const std::vector<uint64_t> seqs = exported();
  ASSERT_EQ(seqs.size(), 600u);
  for (uint64_t i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], i + 1);
}

TEST(Writer, AnAttemptOfAnUnknownRunIsExportedAndSupersededInWhateverOrder) {
  const std::vector<v1::Record> unlinked = {Unlinked('u'), EventRecord('u', 1)};
  const std::vector<v1::Record> linked = {Superseding('x', 'a', 'u'), Row('x', 1, 1), EventRecord('x', 1)};
  DatasetStory only_linked;
  only_linked.Send(linked);
  DatasetStory in_order;
  EXPECT_THAT(in_order.Send(unlinked).refused, IsEmpty());
  EXPECT_THAT(in_order.Export(), HasSubstr(record::UnknownRunId(AttemptId('u'))));
  EXPECT_EQ(in_order.Query("SELECT count(*) FROM attempts WHERE is_run_unknown = 1"), "1");
  EXPECT_THAT(in_order.Send(linked).refused, IsEmpty());
  EXPECT_EQ(in_order.Export(), only_linked.Export());
  DatasetStory reversed;
  reversed.Send(linked);
  EXPECT_THAT(reversed.Send(unlinked).refused, IsEmpty());
  EXPECT_EQ(reversed.Export(), only_linked.Export());
  // Late events of the superseded attempt are acknowledged and skipped.
  EXPECT_THAT(in_order.Send({EventRecord('u', 2), Unlinked('u'), EventRecord('u', 1)}).refused, IsEmpty());
  EXPECT_EQ(in_order.Export(), only_linked.Export());
  for (const DatasetStory* story : {&in_order, &reversed}) {
    EXPECT_EQ(story->Query("SELECT count(*) FROM runs"), "1");
    EXPECT_EQ(story->Query("SELECT count(*) FROM attempt_events"), "1");
  }
}

TEST(Writer, AnAttemptOfAnUnknownRunIsKeptFromOtherOriginsAndIfItIsNotProvisional) {
  v1::Record elsewhere = Unlinked('u');
  elsewhere.mutable_attempt()->set_origin("another job");
  v1::Record final_one = Unlinked('v');
  final_one.mutable_attempt()->set_provisional(false);
  DatasetStory story;
  story.Send({elsewhere, final_one, Superseding('x', 'a', 'u'), Superseding('y', 'a', 'v')});
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "4");
}

TEST(Writer, AStandInThatAProducerDescribedIsKept) {
  v1::Record run = RunRecord('a');
  run.mutable_run()->set_run_id(record::UnknownRunId(AttemptId('u')));
  DatasetStory story;
  story.Send({Unlinked('u'), run, Superseding('x', 'b', 'u')});
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempts"), "1");
  EXPECT_EQ(story.Query("SELECT count(*) FROM runs"), "2");
}

TEST(Writer, ASupersededAttemptTakesItsEventsAlong) {
  v1::Record shorter = AttemptRecord('x', 'a');
  shorter.mutable_attempt()->set_provisional(true);
  DatasetStory story;
  story.Send({shorter, EventRecord('x', 1), Superseding('y', 'a', 'x'), EventRecord('x', 2)});
  EXPECT_EQ(story.Query("SELECT count(*) FROM attempt_events"), "0");
  EXPECT_THAT(story.Export(), Not(HasSubstr("events")));
}

}  // namespace
}  // namespace telemetry::storage::tables
