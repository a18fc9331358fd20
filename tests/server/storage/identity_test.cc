// Tests that ids are claims of their sender: under the same run_id or config_id each sender's rows are exported as that
// sender sent them, whatever other senders send before or after.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/storage/any/any_store.h"
#include "server/storage/upkeep/check_identities.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Records = std::vector<v1::Record>;

v1::Record RunConfigRecord(const std::string& decorator, const std::string& keys) {
  v1::Record record;
  v1::RunConfig& config = *record.mutable_run_config();
  config.set_run_id(RunId('a'));
  config.set_config_id(7);
  config.set_sample_id(std::string(32, decorator.back()));
  config.set_decorator(decorator);
  config.set_record_keys_json(keys);
  return record;
}

v1::Record DescribedRun(const std::string& name, const std::string& hardware, const std::string& settings) {
  v1::Record record = RunRecord('a');
  v1::Run& run = *record.mutable_run();
  run.set_kernel_name(name);
  run.set_hardware(hardware);
  run.set_settings_json(settings);
  return record;
}

// Returns a run with fields that the owner never sets.
v1::Record FilledRun() {
  v1::Record record = RunRecord('a');
  v1::Run& run = *record.mutable_run();
  run.set_kernel_id(std::string(64, 'e'));
  run.set_input_shapes("[(6, 6, 6)]");
  run.set_dtypes("['torch.float6']");
  run.set_settings_signature("static_shapes=Never");
  run.set_extra_json(R"({"forged": true})");
  return record;
}

v1::Record GraphWithTarget(const std::string& target) {
  v1::Record record = GraphRecord('a');
  record.mutable_ir_graph()->mutable_nodes(0)->set_target(target);
  return record;
}

// Returns records of all kinds for one run.
Records OwnersRecords() {
  return {DescribedRun("softmax", "NVIDIA H200", R"({"static_shapes": true})"),
          AttemptRecord('x', 'a'),
          ConfigRecord(7, "Config(n=4, m='y')"),
          ConfigRecord(8, "something that is no call"),
          RunConfigRecord("@kernel(of the owner)", R"(["n", "m"])"),
          GraphWithTarget("mine"),
          Row('x', 1, 0.5),
          Row('x', 2, 0.25, 8)};
}

struct Forgery {
  std::string name;
  Records records;
};

void PrintTo(const Forgery& forgery, std::ostream* out) { *out << forgery.name; }

Forgery Everything() {
  Records records = {DescribedRun("evil", "A100", R"({"a": 1})"), ConfigRecord(7, "Config(n=666)"),
                     ConfigRecord(8, "a"), RunConfigRecord("@evil", R"(["a"])"), FilledRun()};
  // Some of these graphs have a smaller hash than the owner's.
  for (int i = 0; i < 10; ++i) records.push_back(GraphWithTarget(std::string(i + 1, 'z')));
  return {"Everything", records};
}

std::vector<Forgery> Forgeries() {
  return {
      {"AnotherConfig", {ConfigRecord(7, "Config(n=666)")}},
      {"ASmallerSpelling", {ConfigRecord(7, "Config(m='y', n=4)")}},
      {"AConfigThatIsNoCall", {ConfigRecord(7, "666"), ConfigRecord(8, "666")}},
      {"AnotherDescription", {DescribedRun("evil", "A100", R"({"static_shapes": true})")}},
      {"SmallerSettings", {DescribedRun("softmax", "NVIDIA H200", R"({"a": 1})")}},
      {"MoreFields", {FilledRun()}},
      {"ARunConfigAlone", {RunConfigRecord("@evil", R"(["a"])")}},
      {"AGraph",
       {GraphWithTarget("other"), GraphWithTarget("o"), GraphWithTarget("ot"), GraphWithTarget("oth"),
        GraphWithTarget("othe")}},
      Everything(),
  };
}

// A dataset with several senders, each with its own producer. The name "" stands for a sender without a name.
class Senders {
 public:
  // Returns the records that were refused.
  std::vector<RefusedRecord> Send(const std::string& sender, const Records& records) {
    std::string producer = sender;
    producer.resize(16, '.');
    const auto opened =
        story_.writer().OpenProducers({{.producer_id = producer, .epoch = 1, .client = "test", .sender = sender}});
    EXPECT_TRUE(opened.ok() && opened->front().status.ok());
    ProducerBatch batch = {.producer_id = producer, .epoch = 1, .first_seq = opened->front().committed_seq + 1};
    AddRecords(records, &batch);
    const auto outcomes = story_.writer().CommitBatches({batch});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes->front().refused;
  }
  std::string Export(const v1::Filter& filter = {}) const { return story_.Export(filter); }
  DatasetStory& story() { return story_; }

 private:
  DatasetStory story_;
};

std::string Messages(const std::vector<RefusedRecord>& refused) {
  std::string messages;
  for (const RefusedRecord& record : refused) absl::StrAppend(&messages, record.seq, ": ", record.message, "\n");
  return messages;
}

std::string ExportRecords(const std::string& sender, const Records& records) {
  Senders senders;
  senders.Send(sender, records);
  return senders.Export();
}

// Removes the first item, the totals.
std::string WithoutTotals(const std::string& text) { return text.substr(text.find("\n\n") + 2); }

class IdentityTest : public ::testing::TestWithParam<Forgery> {
 protected:
  // Adds an attempt of the forger, so that an export contains the forger's rows, too.
  static Records WithRows(Records records) {
    records.insert(records.begin(), AttemptRecord('f', 'a'));
    records.push_back(Row('f', 1, 0.125));
    records.push_back(Row('f', 2, 0.125, 8));
    return records;
  }

  Senders senders_;
};

TEST_P(IdentityTest, WhatAnotherSendsFirstChangesNothing) {
  senders_.Send("forger", GetParam().records);
  EXPECT_EQ(Messages(senders_.Send("owner", OwnersRecords())), "");
  EXPECT_EQ(senders_.Export(), ExportRecords("owner", OwnersRecords()));
}

TEST_P(IdentityTest, WhatAnotherSendsLaterChangesNothing) {
  EXPECT_EQ(Messages(senders_.Send("owner", OwnersRecords())), "");
  senders_.Send("forger", GetParam().records);
  EXPECT_EQ(Messages(senders_.Send("owner", OwnersRecords())), "");
  EXPECT_EQ(senders_.Export(), ExportRecords("owner", OwnersRecords()));
}

TEST_P(IdentityTest, WhatAnotherSendsInBetweenChangesNothing) {
  for (const v1::Record& record : OwnersRecords()) {
    senders_.Send("forger", GetParam().records);
    EXPECT_EQ(Messages(senders_.Send("owner", {record})), "");
  }
  EXPECT_EQ(senders_.Export(), ExportRecords("owner", OwnersRecords()));
}

TEST_P(IdentityTest, WhatBothMeasuredIsExportedAsEachSaidIt) {
  const Records forged = WithRows(GetParam().records);
  senders_.Send("forger", forged);
  EXPECT_EQ(Messages(senders_.Send("owner", OwnersRecords())), "");
  senders_.Send("zorro", {AttemptRecord('z', 'a')});
  const std::string text = senders_.Export();
  EXPECT_THAT(text, HasSubstr(WithoutTotals(ExportRecords("owner", OwnersRecords()))));
  EXPECT_THAT(text, HasSubstr(WithoutTotals(ExportRecords("forger", forged))));
}

TEST_P(IdentityTest, TheOrderOfArrivalDoesNotShow) {
  Senders reversed;
  reversed.Send("owner", OwnersRecords());
  reversed.Send("forger", WithRows(GetParam().records));
  senders_.Send("forger", WithRows(GetParam().records));
  senders_.Send("owner", OwnersRecords());
  EXPECT_EQ(senders_.Export(), reversed.Export());
}

// Tests records without a sender's name, as all records were before each sender had its own rows.
class NamelessIdentityTest : public ::testing::Test {
 protected:
  Senders senders_;
};

TEST_F(NamelessIdentityTest, AnAttemptIsDescribedByWhoGoesOnWithIt) {
  senders_.Send("", {AttemptRecord('x', 'a'), Row('x', 1, 0.5)});
  EXPECT_THAT(senders_.Send("one", {RunRecord('a'), ConfigRecord(7, "Config(n=4)")}), IsEmpty());
  EXPECT_THAT(senders_.Export(), HasSubstr("kernel_name: \"softmax\""));
  EXPECT_THAT(senders_.Export(), HasSubstr("Config(n=4)"));
}

TEST_F(NamelessIdentityTest, ADescriptionServesWhoeverHasNoneOfHisOwn) {
  senders_.Send("", {RunRecord('a'), ConfigRecord(7, "Config(n=4)")});
  senders_.Send("one", {AttemptRecord('x', 'a'), Row('x', 1, 0.5)});
  EXPECT_THAT(senders_.Export(), HasSubstr("kernel_name: \"softmax\""));
  EXPECT_THAT(senders_.Export(), HasSubstr("Config(n=4)"));
  EXPECT_THAT(senders_.Send("one", {DescribedRun("renamed", "H100", "{}"), ConfigRecord(7, "Config(n=5)")}), IsEmpty());
  EXPECT_THAT(senders_.Export(), HasSubstr("kernel_name: \"renamed\""));
  EXPECT_THAT(senders_.Export(), HasSubstr("Config(n=5)"));
}

TEST_F(NamelessIdentityTest, NobodyIsDescribedByAnotherSender) {
  senders_.Send("two", {RunRecord('a'), ConfigRecord(7, "Config(n=4)"), AttemptRecord('y', 'a')});
  senders_.Send("one", {AttemptRecord('x', 'a'), Row('x', 1, 0.5)});
  v1::Filter filter;
  filter.set_kernel_name("softmax");
  EXPECT_THAT(senders_.Export(filter), Not(HasSubstr(AttemptId('x'))));
  EXPECT_THAT(senders_.Export(), Not(HasSubstr("Config(n=4)")));
}

TEST_F(NamelessIdentityTest, ItsAttemptIsContinuedAndSupersededUnderAName) {
  v1::Record shorter = AttemptRecord('x', 'a');
  shorter.mutable_attempt()->set_provisional(true);
  senders_.Send("", {RunRecord('a'), shorter, Row('x', 1, 0.5)});
  EXPECT_THAT(senders_.Send("one", {shorter, Row('x', 1, 0.5), Row('x', 2, 0.5)}), IsEmpty());
  v1::Record longer = AttemptRecord('y', 'a');
  longer.mutable_attempt()->set_provisional(true);
  longer.mutable_attempt()->add_supersedes(AttemptId('x'));
  EXPECT_THAT(senders_.Send("one", {longer, Row('y', 1, 0.5)}), IsEmpty());
  EXPECT_EQ(senders_.story().Query("SELECT count(*) FROM attempts"), "1");
  EXPECT_EQ(senders_.story().Query("SELECT count(*) FROM measurements"), "1");
  EXPECT_THAT(senders_.Send("one", {shorter, Row('x', 1, 0.5)}), IsEmpty());
  EXPECT_EQ(senders_.story().Query("SELECT count(*) FROM attempts"), "1");
}

TEST_F(NamelessIdentityTest, TheReadersCallsKnowAllSenders) {
  senders_.Send("one", {RunRecord('a'), AttemptRecord('x', 'a'), ConfigRecord(7, "Config(n=4)"), Row('x', 1, 0.5)});
  senders_.Send("two", {DescribedRun("evil", "A100", "{}"), AttemptRecord('y', 'a'), ConfigRecord(7, "Config(n=5)"),
                        Row('y', 1, 0.25)});
  const std::unique_ptr<StoreReader> reader = senders_.story().OpenReader();
  EXPECT_EQ(reader->GetRun(RunId('a'))->attempts(), 2u);
  EXPECT_EQ(reader->GetRun(RunId('a'))->best_config(), "Config(n=5)");
  v1::ListAttemptsRequest attempts;
  attempts.set_run_id(RunId('a'));
  EXPECT_EQ(reader->ListAttempts(attempts)->attempts_size(), 2);
  v1::ListRunsRequest runs;
  runs.set_page_size(1);
  std::vector<std::string> names;
  do {
    const v1::ListRunsResponse page = *reader->ListRuns(runs);
    for (const v1::RunSummary& run : page.runs()) names.push_back(run.run().kernel_name());
    runs.set_page_token(page.next_page_token());
  } while (!runs.page_token().empty());
  EXPECT_THAT(names, ::testing::ElementsAre("softmax", "evil"));
}

TEST_F(NamelessIdentityTest, IdsThatAreNotOfTheirContentAreFound) {
  v1::Record right = RunRecord('a');
  v1::Run& run = *right.mutable_run();
  run.set_input_shapes("[(4,)]");
  run.set_dtypes("['torch.float16']");
  run.set_run_id(
      record::RunIdHelion(run.kernel_source(), record::Json::Null(), run.input_shapes(), run.dtypes(), run.hardware()));
  v1::Record wrong = right;
  wrong.mutable_run()->set_input_shapes("[(5,)]");
  const uint64_t id = record::ConfigId(*record::ParseJson(R"({"n": 4})"));
  senders_.Send("one", {right, ConfigRecord(id, "Config(n=4)")});
  senders_.Send("two", {wrong, RunRecord('b'), ConfigRecord(id, "Config(n=5)"), ConfigRecord(8, "no call")});
  const std::unique_ptr<sql::Database> database = *any::OpenDatabaseForReading(senders_.story().path());
  std::vector<std::string> found;
  const absl::StatusOr<upkeep::IdentityCounts> counts =
      upkeep::CheckIdentities(*database, [&found](const upkeep::WrongIdentity& identity) {
        found.push_back(absl::StrCat(identity.what, " ", identity.id, " ", identity.sender));
        EXPECT_NE(identity.expected, identity.id);
      });
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_THAT(found, ::testing::ElementsAre(absl::StrCat("config_id ", record::FormatConfigId(id), " two"),
                                            absl::StrCat("run_id ", run.run_id(), " two")));
  EXPECT_EQ(counts->right, 2);
  EXPECT_EQ(counts->wrong, 2);
  EXPECT_EQ(counts->unknown, 2);
}

INSTANTIATE_TEST_SUITE_P(Forged, IdentityTest, ::testing::ValuesIn(Forgeries()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace telemetry::storage
