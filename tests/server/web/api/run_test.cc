// Tests the answers about a run, each number of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::api {
namespace {

using storage::RunId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunAnswerTest : public ::testing::Test {
 protected:
  RunAnswerTest() { SendSample(&story_); }

  static std::string OfA(const std::string& rest) { return absl::StrCat("runs/", RunId('a'), rest); }
  std::string Value(const std::string& rest, const std::string& path) { return story_.Value(OfA(rest), path); }
  static std::string Quoted(const std::string& text) { return absl::StrCat("\"", text, "\""); }

  WebStory story_;
};

TEST_F(RunAnswerTest, Run) {
  const auto run = story_.Ask(OfA(""));
  ASSERT_TRUE(run.ok()) << run.status();
  const auto at = [&](const char* path) { return At(*run, path); };
  EXPECT_EQ(at("run_id"), Quoted(RunId('a')));
  EXPECT_EQ(at("kernel.label"), "\"softmax\"");
  EXPECT_EQ(at("shapes.filter"), "\"[(4096, 2560)]\"");
  EXPECT_EQ(at("sender"), "null");
  EXPECT_EQ(at("attempts"), "2");
  EXPECT_EQ(at("open_attempts"), "1");
  EXPECT_EQ(at("rows"), "10");
  EXPECT_EQ(at("configs"), "7");  // 5 of A, 2 of B
  EXPECT_EQ(at("failed"), "3");
  EXPECT_EQ(at("best_ms"), "0.9");
  EXPECT_EQ(at("default_ms"), "1.8");
  EXPECT_EQ(at("speedup"), "2");
  EXPECT_NEAR(std::stod(at("spread")), (1.1 - 0.9) / 0.9, 1e-12);
  EXPECT_NEAR(std::stod(at("noise")), 0.02, 1e-12);
  EXPECT_EQ(at("best_config_id"), "\"0000000000000002\"");
  EXPECT_EQ(at("best_attempt_id"), Quoted(AttemptHex('A')));
  EXPECT_EQ(at("settings"), R"("{\"static_shapes\": true}")");
  EXPECT_EQ(at("senders"), "[null]");
  EXPECT_EQ(at("graphs"), "[\"device\"]");
  EXPECT_EQ(at("attempts_left_out"), "0");
  EXPECT_EQ(at("attempt_list.0.attempt_id"), Quoted(AttemptHex('B')));
  EXPECT_EQ(at("attempt_list.1.origin.label"), "\"ci/1\"");
  EXPECT_EQ(at("attempt_list.1.algorithm.label"), "\"random\"");
  EXPECT_EQ(at("attempt_list.1.seed"), "7");
  EXPECT_EQ(at("attempt_list.1.started_unix_ms"), "5000");
  EXPECT_EQ(at("attempt_list.1.state"), "\"complete\"");
  EXPECT_EQ(at("attempt_list.1.best_stage"), "\"final\"");
  EXPECT_EQ(at("best.text"), "\"Config(num_warps=8, sizes=[16, 32])\"");
  EXPECT_EQ(at("best.json"), R"("{\"num_warps\": 8, \"sizes\": [16, 32]}")");
  EXPECT_EQ(at("best.decorator"), "null");
  EXPECT_EQ(at("repro"), Quoted(absl::StrCat("telemetry-worker repro ", RunId('a'),
                                             " --config-id 0000000000000002 --collector COLLECTOR:4747")));
}

TEST_F(RunAnswerTest, Convergence) {
  const auto answer = story_.Ask(OfA("/convergence"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "series.0.attempt_id"), Quoted(AttemptHex('B')));
  EXPECT_EQ(At(*answer, "series.1.label"), "\"ci/1\"");
  EXPECT_EQ(At(*answer, "series.1.configs"), "[1, 2]");
  EXPECT_EQ(At(*answer, "series.1.seconds"), "[0.25, 0.5]");
  EXPECT_EQ(At(*answer, "series.1.best_ms"), "[2, 1]");
  EXPECT_EQ(At(*answer, "series.1.seq"), "[1, 2]");
  EXPECT_EQ(At(*answer, "series.1.total_configs"), "5");
  EXPECT_EQ(At(*answer, "series.1.total_seconds"), "2");
  EXPECT_EQ(At(*answer, "attempts_left_out"), "0");
  EXPECT_NEAR(std::stod(At(*answer, "noise")), 0.02, 1e-12);
  EXPECT_EQ(Value(absl::StrCat("/convergence?attempt=", AttemptHex('A')), "series.1"), "(none)");
  EXPECT_THAT(story_.Csv(OfA("/convergence")), HasSubstr("ci/1,2,0.5,1,2,5,2\r\n"));
}

TEST_F(RunAnswerTest, Knobs) {
  const auto answer = story_.Ask(OfA("/knobs"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "configs"), "7");
  EXPECT_EQ(At(*answer, "sampled"), "false");
  EXPECT_EQ(At(*answer, "constant"), R"([{"name": "sizes[1]", "text": "32"}])");
  EXPECT_EQ(At(*answer, "knobs.0.name"), "\"num_warps\"");
  EXPECT_EQ(At(*answer, "knobs.0.type"), "\"number\"");
  EXPECT_EQ(At(*answer, "knobs.0.configs"), "7");
  EXPECT_EQ(At(*answer, "knobs.0.values.0"),
            R"({"text": "4", "number": 4, "configs": 3, "best_ms": 1.8, "median_ms": 2, "failed": 1})");
  EXPECT_EQ(At(*answer, "knobs.0.values.1"),
            R"({"text": "8", "number": 8, "configs": 4, "best_ms": 0.9, "median_ms": 1, "failed": 2})");
  // The sums of squares of the logarithms: within the values of the knob, and between them.
  const double within = std::pow(std::log(1.1 / 0.9), 2);
  const double effect = 1 - within / 2 / ((within + std::pow(std::log(2), 2)) / 3);
  EXPECT_NEAR(std::stod(At(*answer, "knobs.0.effect")), effect, 1e-9);
  EXPECT_EQ(At(*answer, "knobs.1.name"), "\"sizes[0]\"");
  EXPECT_NEAR(std::stod(At(*answer, "knobs.1.effect")), 0, 1e-9);  // all measured configs have one value
  EXPECT_EQ(At(*answer, "pairs.0.a"), "\"num_warps\"");
  EXPECT_EQ(At(*answer, "pairs.0.b"), "\"sizes[0]\"");
  EXPECT_EQ(At(*answer, "pairs.1"), "(none)");
}

TEST_F(RunAnswerTest, ConfigsWithoutAKnobCountAsAValue) {
  story_.Send({storage::ConfigRecord(9, "Config(num_warps=4, sizes=[16, 32], splits=2)"), storage::Row('A', 20, 5, 9),
               storage::ConfigRecord(10, "Config(num_warps=2)"), storage::Row('A', 21, 1.8, 10)});
  story_.Refresh();
  const auto answer = story_.Ask(OfA("/knobs"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto& knobs = answer->Find("knobs")->items;
  const auto splits = std::find_if(knobs.begin(), knobs.end(),
                                   [](const record::Json& knob) { return knob.Find("name")->text == "splits"; });
  ASSERT_NE(splits, knobs.end());
  EXPECT_EQ(At(*splits, "configs"), "1");
  EXPECT_EQ(At(*splits, "values.0"),
            R"({"text": null, "number": null, "configs": 8, "best_ms": 0.9, "median_ms": 1.8, "failed": 3})");
  EXPECT_EQ(At(*splits, "values.1"),
            R"({"text": "2", "number": 2, "configs": 1, "best_ms": 5, "median_ms": 5, "failed": 0})");
}

TEST_F(RunAnswerTest, Points) {
  const auto answer = story_.Ask(OfA("/points"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "total"), "7");
  EXPECT_EQ(At(*answer, "points.perf_ms"), "[0.9, 1.1, 1.8, 2.2, null, null, null]");
  EXPECT_EQ(At(*answer, "points.attempt"), "[1, 0, 1, 0, 1, 1, 1]");
  EXPECT_EQ(At(*answer, "points.compile_ms"), "[null, null, 500, null, null, null, null]");
  EXPECT_EQ(At(*answer, "points.seq"), "[7, 2, 8, 1, 3, 4, 5]");
  EXPECT_EQ(At(*answer, "points.stage"), R"(["final", null, "final", null, null, null, null])");
  EXPECT_EQ(At(*answer, "points.status.6"), "\"timeout\"");
  EXPECT_EQ(At(*answer, "knobs.0.name"), "\"num_warps\"");
  EXPECT_EQ(At(*answer, "points.values.0"), "[1, 1, 0, 0, 0, 1, 1]");
  EXPECT_EQ(Value("/points?knob=sizes[0]&knob=sizes[1]", "points.values"),
            "[[0, 0, 0, 0, 2, 2, 1], [0, 0, 0, 0, 0, 0, 0]]");
  EXPECT_EQ(story_.Code(OfA("/points?knob=none")), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(story_.Csv(OfA("/points?knob=num_warps")),
              StartsWith("config_id,attempt,seq,status,perf_ms,compile_ms,stage,knob num_warps\r\n"
                         "0000000000000002,1,7,ok,0.9,,final,8\r\n"));
}

TEST_F(RunAnswerTest, Statuses) {
  const auto answer = story_.Ask(OfA("/statuses"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "statuses.0"), R"({"status": "ok", "rows": 6, "configs": 2})");
  EXPECT_EQ(At(*answer, "statuses.1"), R"({"status": "error", "rows": 2, "configs": 2})");
  EXPECT_EQ(At(*answer, "failures.0.message"), "\"out of registers: # needed\"");
  EXPECT_EQ(At(*answer, "failures.0.phase"), "\"compile\"");
  EXPECT_EQ(At(*answer, "failures.0.code"), "null");
  EXPECT_EQ(At(*answer, "failures.0.rows"), "2");
  EXPECT_EQ(At(*answer, "failures.0.configs"), "2");
  EXPECT_EQ(At(*answer, "failures.0.example.seq"), "3");
  EXPECT_EQ(At(*answer, "failures.0.example.config_id"), "\"0000000000000003\"");
  EXPECT_EQ(At(*answer, "failures.0.example.message"),
            R"("compile: RuntimeError: out of registers: 300 needed\nat line 7")");
  EXPECT_EQ(At(*answer, "failures.0.knobs.0"),
            R"({"name": "sizes[0]", "text": "64", "share": 1, "share_of_all": 0.4})");
  EXPECT_EQ(At(*answer, "failures.1.status"), "\"timeout\"");
  EXPECT_EQ(At(*answer, "failures.1.message"), "null");
  EXPECT_EQ(At(*answer, "failures_left_out"), "0");
  EXPECT_EQ(At(*answer, "unfinished"), "1");
  const std::string group = At(*answer, "failures.0.group");
  const std::string rows = absl::StrCat("/rows?failure=", group.substr(1, group.size() - 2));
  EXPECT_THAT(story_.AllPages(OfA(rows), "seq"), ElementsAre("3", "4"));
}

TEST_F(RunAnswerTest, Finals) {
  const auto answer = story_.Ask(OfA("/finals"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "are_final"), "true");
  EXPECT_EQ(At(*answer, "left_out"), "0");
  EXPECT_EQ(At(*answer, "items.0.perf_ms"), "0.9");
  EXPECT_EQ(At(*answer, "items.0.tied"), "true");
  EXPECT_EQ(At(*answer, "items.0.ratio"), "1");
  EXPECT_EQ(At(*answer, "items.0.quantiles.median"), "0.9");
  EXPECT_EQ(At(*answer, "items.1.perf_ms"), "1.8");
  EXPECT_EQ(At(*answer, "items.1.ratio"), "2");
  EXPECT_EQ(At(*answer, "items.1.tied"), "false");
  EXPECT_LT(std::stod(At(*answer, "items.1.ratio_low")), 2);
  EXPECT_GT(std::stod(At(*answer, "items.1.ratio_low")), 1.9);
  EXPECT_EQ(At(*answer, "items.1.config"), "\"Config(num_warps=4, sizes=[16, 32])\"");
  EXPECT_EQ(At(*answer, "items.2"), "(none)");
  const auto without = story_.Ask(absl::StrCat("runs/", RunId('b'), "/finals"));
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(At(*without, "are_final"), "false");
  EXPECT_EQ(At(*without, "items.0.perf_ms"), "4");
  EXPECT_EQ(At(*without, "items.0.samples_ms"), "null");
  EXPECT_EQ(At(*without, "items.1.ratio"), "1.5");
  EXPECT_EQ(At(*without, "items.1.ratio_low"), "null");
}

TEST_F(RunAnswerTest, Rows) {
  const auto answer = story_.Ask(OfA("/rows?limit=1&config_id=0000000000000003"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "next_cursor"), "null");
  const std::string row = At(*answer, "items.0");
  EXPECT_EQ(row,
            absl::StrCat(R"({"attempt_id": ")", AttemptHex('A'),
                         R"(", "seq": 3, "timestamp_s": 0.75, "generation": 0, "status": "error", "perf_ms": null, )",
                         R"("compile_time_s": null, "config_id": "0000000000000003", )",
                         R"x("config": "Config(num_warps=4, sizes=[64, 32])", "stage": null, )x",
                         R"("failure": "compile: RuntimeError: out of registers: 300 needed\nat line 7"})"));
  EXPECT_THAT(story_.AllPages(OfA("/rows?limit=3"), "seq"),
              ElementsAre("1", "2", "1", "2", "3", "4", "5", "6", "7", "8"));
  EXPECT_THAT(story_.AllPages(OfA("/rows?limit=1&status=ok"), "perf_ms"),
              ElementsAre("2.2", "1.1", "2", "1", "0.9", "1.8"));
  EXPECT_THAT(story_.AllPages(OfA("/rows?limit=2&sort=-seq"), "seq"),
              ElementsAre("8", "7", "6", "5", "4", "3", "2", "1", "2", "1"));
  EXPECT_THAT(story_.AllPages(OfA("/rows?limit=4&sort=perf"), "perf_ms"),
              ElementsAre("0.9", "1", "1.1", "1.8", "2", "2.2", "null", "null", "null", "null"));
  EXPECT_THAT(story_.AllPages(OfA("/rows?limit=4&sort=-perf&status=ok"), "perf_ms"),
              ElementsAre("2.2", "2", "1.8", "1.1", "1", "0.9"));
  EXPECT_EQ(Value("/rows?sort=compile", "items.0.compile_time_s"), "0.5");
  EXPECT_EQ(Value("/rows?config_id=00000000000000aa", "items"), "[]");
}

TEST_F(RunAnswerTest, Config) {
  const auto answer = story_.Ask(OfA("/configs/0000000000000002"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(At(*answer, "config_id"), "\"0000000000000002\"");
  EXPECT_EQ(At(*answer, "text"), "\"Config(num_warps=8, sizes=[16, 32])\"");
  EXPECT_EQ(
      At(*answer, "arguments"),
      R"([{"name": "num_warps", "text": "8"}, {"name": "sizes[0]", "text": "16"}, {"name": "sizes[1]", "text": "32"}])");
  EXPECT_EQ(At(*answer, "rows.0.perf_ms"), "1.1");
  EXPECT_EQ(At(*answer, "rows.1.registers"), "null");
  EXPECT_EQ(At(*answer, "rows.2.registers"), "64");
  EXPECT_EQ(At(*answer, "rows.2.quantiles.count"), "5");
  EXPECT_EQ(At(*answer, "rows.3"), "(none)");
  EXPECT_EQ(At(*answer, "rows_left_out"), "0");
  EXPECT_EQ(
      Value("/configs/0000000000000003", "rows.0.failure_json"),
      R"("{\"phase\": \"compile\", \"error_class\": \"RuntimeError\", \"message\": \"out of registers: 300 needed\\nat line 7\"}")");
  EXPECT_EQ(story_.Code(OfA("/configs/00000000000000aa")), absl::StatusCode::kNotFound);
  EXPECT_EQ(story_.Code(OfA("/configs/x")), absl::StatusCode::kInvalidArgument);
}

TEST_F(RunAnswerTest, CodeOfAConfig) {
  const std::string config = R"({"num_warps": 8})";
  const uint64_t id = record::ConfigId(*record::ParseJson(config));
  const auto code = [](uint64_t seq, const std::string& values) {
    v1::Record record = storage::EventRecord('A', seq, absl::StrCat(R"({"name": "code", "values": )", values, "}"));
    record.mutable_attempt_event()->set_name("code");
    return record;
  };
  story_.Send({storage::ConfigRecord(id, "Config(num_warps=8)"), storage::Row('A', 20, 3, id),
               code(20, absl::StrCat(R"({"config": )", config, R"(, "ptx": ".version 8.7", "registers": 3})")),
               code(21, R"({"config": {"num_warps": 4}, "ptx": "of another config"})"), code(22, R"({"ptx": "old"})"),
               code(23, "[]"), storage::EventRecord('A', 24, R"({"event": "last"})")});
  story_.Refresh();
  const std::string target = absl::StrCat("/configs/", record::FormatConfigId(id));
  EXPECT_EQ(Value(target, "code"), absl::StrCat(R"([{"attempt_id": ")", AttemptHex('A'),
                                                R"(", "seq": 20, "language": "ptx", "text": ".version 8.7"}])"));
  EXPECT_EQ(Value("/configs/0000000000000002", "code"), "[]");
}

TEST_F(RunAnswerTest, Graphs) {
  EXPECT_EQ(Value("/graphs", "items"), R"([{"kind": "device", "sender": null, "nodes": 2, "edges": 1}])");
  const auto graph = story_.Ask(OfA("/graphs/device"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(At(*graph, "nodes.0.id"), "\"a\"");
  EXPECT_EQ(At(*graph, "nodes.1.id"), "\"b\"");
  EXPECT_EQ(At(*graph, "edges.0.source"), "\"a\"");
  EXPECT_EQ(At(*graph, "edges.0.target"), "\"b\"");
  EXPECT_EQ(At(*graph, "regions.0.nodes"), "2");
  EXPECT_EQ(At(*graph, "regions.0.parent"), "null");
  EXPECT_EQ(At(*graph, "source"), R"("def softmax(x):\n  ...")");
  EXPECT_EQ(At(*graph, "nodes_left_out"), "0");
  EXPECT_EQ(At(*graph, "attributes"), "{}");
  EXPECT_EQ(story_.Code(OfA("/graphs/none")), absl::StatusCode::kNotFound);
}

TEST_F(RunAnswerTest, Attempt) {
  const auto attempt = story_.Ask(absl::StrCat("attempts/", AttemptHex('A')));
  ASSERT_TRUE(attempt.ok()) << attempt.status();
  EXPECT_EQ(At(*attempt, "run_id"), Quoted(RunId('a')));
  EXPECT_EQ(At(*attempt, "rows"), "8");
  EXPECT_EQ(At(*attempt, "configs"), "5");
  EXPECT_EQ(At(*attempt, "failed"), "3");
  EXPECT_EQ(At(*attempt, "environment"), R"({"device": "H200"})");
  EXPECT_EQ(At(*attempt, "counters"), R"({"configs": 6})");
  EXPECT_EQ(At(*attempt, "events"), "2");
  const std::string events = absl::StrCat("attempts/", AttemptHex('A'), "/events");
  EXPECT_EQ(story_.Value(events, "items.0"),
            R"({"seq": 1, "time_unix_ms": 1795394163768, "name": "selected", "text": "{\"event\": \"selected\"}"})");
  EXPECT_THAT(story_.AllPages(events + "?limit=1", "seq"), ElementsAre("1", "2"));
}

TEST_F(RunAnswerTest, UnknownObjectsAreNotFound) {
  const std::string none = RunId('f');
  for (const char* const rest : {"", "/convergence", "/knobs", "/points", "/statuses", "/finals", "/rows", "/graphs",
                                 "/graphs/device", "/configs/0000000000000001"}) {
    EXPECT_EQ(story_.Code(absl::StrCat("runs/", none, rest)), absl::StatusCode::kNotFound) << rest;
    EXPECT_EQ(story_.Code(absl::StrCat("runs/not-an-id", rest)), absl::StatusCode::kNotFound) << rest;
  }
  for (const char* const rest : {"", "/events"}) {
    EXPECT_EQ(story_.Code(absl::StrCat("attempts/", AttemptHex('Z'), rest)), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(story_.Code(OfA(absl::StrCat("/knobs?attempt=", AttemptHex('C')))), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace telemetry::web::api
