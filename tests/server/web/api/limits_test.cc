// Tests that answers stay small, whatever a sender stores.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/server/web/web_story.h"

namespace telemetry::web::api {
namespace {

using storage::RunId;

class LimitsTest : public ::testing::Test {
 protected:
  static std::string OfA(const std::string& rest) { return absl::StrCat("runs/", RunId('a'), rest); }
  // Returns the number of elements of an array in an answer.
  size_t Size(const std::string& target, const std::string& list) {
    const auto answer = story_.Ask(target);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->Find(list)->items.size() : 0;
  }
  static v1::Record Failed(uint64_t seq, const std::string& message) {
    v1::Record record = storage::Row('A', seq, 1, seq);
    record.mutable_measurement()->clear_perf_ms();
    record.mutable_measurement()->set_status("error");
    record.mutable_measurement()->mutable_failure()->set_phase("compile");
    record.mutable_measurement()->mutable_failure()->set_message(message);
    return record;
  }

  WebStory story_;
};

TEST_F(LimitsTest, AttemptsBeyondFiftyAreLeftOut) {
  for (int i = 0; i < 60; ++i) {
    const char attempt = static_cast<char>('A' + i);
    story_.Send({storage::AttemptRecord(attempt, 'a'), storage::Row(attempt, 1, 1 + i)});
  }
  story_.Refresh();
  EXPECT_EQ(Size(OfA("/convergence"), "series"), 50U);
  EXPECT_EQ(story_.Value(OfA("/convergence"), "attempts_left_out"), "10");
  EXPECT_EQ(story_.Value(OfA(""), "attempts"), "60");
  EXPECT_EQ(story_.Value(OfA(""), "best_ms"), "1");  // of the oldest attempt
  EXPECT_EQ(story_.AllPages(OfA("/rows?limit=7"), "seq").size(), 50U);
  EXPECT_EQ(story_.Value(OfA("/finals"), "left_out"), "30");
}

TEST_F(LimitsTest, LongSearchesAreThinned) {
  std::vector<v1::Record> records = {storage::AttemptRecord('A', 'a')};
  for (uint64_t seq = 1; seq <= 3000; ++seq) {
    records.push_back(storage::ConfigRecord(seq, absl::StrCat("Config(x=", seq, ")")));
    records.push_back(storage::Row('A', seq, 4000.0 - static_cast<double>(seq), seq));
  }
  story_.Send(records);
  story_.Refresh();
  const auto curve = story_.Ask(OfA("/convergence?points=10"));
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(At(*curve, "series.0.configs"), "[1, 334, 667, 1000, 1333, 1667, 2000, 2333, 2666, 3000]");
  EXPECT_EQ(At(*curve, "series.0.best_ms.9"), "1000");
  const auto points = story_.Ask(OfA("/points?points=20"));
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(At(*points, "total"), "3000");
  EXPECT_EQ(At(*points, "sampled"), "true");
  EXPECT_EQ(At(*points, "points.perf_ms.0"), "1000");
  EXPECT_EQ(At(*points, "points.perf_ms.1"), "1001");
  EXPECT_EQ(At(*points, "points.perf_ms.20"), "(none)");
  EXPECT_EQ(Size(OfA("/knobs"), "knobs"), 1U);
  EXPECT_EQ(story_.Value(OfA("/knobs"), "knobs.0.values_left_out"), "2800");
  EXPECT_EQ(story_.Value(OfA("/knobs"), "knobs.0.effect"), "null");  // as many values as configs
}

TEST_F(LimitsTest, AnswersSayThatARunIsLongerThanTheyRead) {
  const std::vector<std::pair<const char*, const char*>> answers = {
      {"/convergence", "cut"}, {"/statuses", "cut"},  {"/finals", "cut"}, {"/rows?sort=perf&limit=1", "cut"},
      {"/knobs", "sampled"},   {"/points", "sampled"}};
  std::vector<v1::Record> records = {storage::AttemptRecord('A', 'a'), storage::ConfigRecord(1, "Config(x=1)")};
  for (uint64_t seq = 1; seq <= 200000; ++seq) records.push_back(storage::Row('A', seq, 2, 1));
  story_.Send(records);
  story_.Refresh();
  for (const auto& [part, member] : answers) EXPECT_EQ(story_.Value(OfA(part), member), "false") << part;
  story_.Send({storage::Row('A', 200001, 1, 1)});
  story_.Refresh();
  for (const auto& [part, member] : answers) EXPECT_EQ(story_.Value(OfA(part), member), "true") << part;
  EXPECT_EQ(story_.Value(OfA("/rows?limit=1"), "cut"), "false");
}

TEST_F(LimitsTest, ManyReasonsForFailuresAreCounted) {
  std::vector<v1::Record> records = {storage::AttemptRecord('A', 'a')};
  for (uint64_t seq = 1; seq <= 1500; ++seq) {
    std::string word;
    for (uint64_t rest = seq; rest > 0; rest /= 20) word.push_back(static_cast<char>('g' + rest % 20));
    records.push_back(Failed(seq, absl::StrCat("reason ", word)));
  }
  story_.Send(records);
  story_.Refresh();
  EXPECT_EQ(Size(OfA("/statuses"), "failures"), 100U);
  EXPECT_EQ(story_.Value(OfA("/statuses"), "failures_left_out"), "1400");
  EXPECT_EQ(story_.Value(OfA("/statuses"), "statuses.0.rows"), "1500");
}

TEST_F(LimitsTest, LongFailuresAreCutInLists) {
  std::vector<v1::Record> records = {storage::AttemptRecord('A', 'a')};
  const std::string message = "ptxas \"error\"\n" + std::string(400000, '\\');
  for (uint64_t seq = 1; seq <= 3; ++seq) records.push_back(Failed(seq, message));
  story_.Send(records);
  story_.Refresh();
  const auto rows = story_.Ask(OfA("/rows"));
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_LT(record::ToJson(*rows).size(), 3U * 1200);
  const auto statuses = story_.Ask(OfA("/statuses"));
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  EXPECT_EQ(At(*statuses, "failures.0.rows"), "3");
  EXPECT_EQ(At(*statuses, "failures.0.phase"), "\"compile\"");
  EXPECT_EQ(At(*statuses, "failures.0.message"), "\"ptxas \\\"error\\\"\"");
  EXPECT_LT(record::ToJson(*statuses).size(), 20000U);
  // The answer about a config has the whole text.
  const auto config = story_.Ask(OfA("/configs/0000000000000001"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->Find("rows")->items[0].Find("failure")->text, absl::StrCat("compile: ", message));
}

TEST_F(LimitsTest, TheTextsOfManyRowsOfAConfigHaveALimitTogether) {
  std::vector<v1::Record> records = {storage::AttemptRecord('A', 'a')};
  for (uint64_t seq = 1; seq <= 20; ++seq) {
    records.push_back(Failed(seq, std::string(500000, 'x')));
    records.back().mutable_measurement()->set_config_id(1);
  }
  story_.Send(records);
  story_.Refresh();
  const auto config = story_.Ask(OfA("/configs/0000000000000001"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->Find("rows")->items.size(), 20U);
  EXPECT_LT(record::ToJson(*config).size(), size_t{8} << 20);
}

TEST_F(LimitsTest, LongEventsAreCut) {
  story_.Send({storage::AttemptRecord('A', 'a'), storage::EventRecord('A', 1, std::string(3000000, 'e'))});
  story_.Refresh();
  const auto events = story_.Ask(absl::StrCat("attempts/", AttemptHex('A'), "/events"));
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(events->Find("items")->items[0].Find("text")->text, std::string(4096, 'e') + "\u2026");
}

TEST_F(LimitsTest, LargeGraphsAreCut) {
  v1::Record record = storage::GraphRecord('a');
  v1::IrGraph& graph = *record.mutable_ir_graph();
  graph.clear_nodes();
  graph.clear_edges();
  for (int i = 0; i < 21000; ++i) {
    v1::IrNode& node = *graph.add_nodes();
    node.set_id(absl::StrCat("n", i));
    node.set_graph_id(i % 2);
    if (i == 1) node.set_block_ids_json("[3]");
  }
  v1::IrEdge& edge = *graph.add_edges();
  edge.set_source("n0");
  edge.set_target("n1");
  edge.set_edge_kind("region");
  story_.Send({storage::RunRecord('a'), storage::AttemptRecord('A', 'a'), record});
  story_.Refresh();
  const auto answer = story_.Ask(OfA("/graphs/device"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->Find("nodes")->items.size(), 20000U);
  EXPECT_EQ(At(*answer, "nodes_left_out"), "1000");
  EXPECT_EQ(At(*answer, "edges_left_out"), "0");
  EXPECT_EQ(
      At(*answer, "regions.1"),
      R"({"graph_id": 1, "region_kind": null, "block_ids": [3], "nodes": 10500, "parent": 0, "entry_node": "n0"})");
}

}  // namespace
}  // namespace telemetry::web::api
