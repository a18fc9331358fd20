// Tests texts of the dataset and of requests that an attacker has chosen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/web/api/endpoints.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::api {
namespace {

using storage::RunId;

constexpr char kText[] = "<script>'); DROP TABLE runs; --\"\\ ?1 $1 \u202E";

class HostileTest : public ::testing::Test {
 protected:
  static std::string Encoded(const std::string& text) {
    std::string encoded;
    for (const char c : text) absl::StrAppend(&encoded, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    return encoded;
  }
  // Returns a target of the endpoint, with existing ids.
  static std::string Target(const Endpoint& endpoint) {
    std::string target(endpoint.pattern);
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"runs/{}", absl::StrCat("runs/", RunId('a'))},
                                                          {"attempts/{}", absl::StrCat("attempts/", AttemptHex('A'))},
                                                          {"configs/{}", "configs/0000000000000001"},
                                                          {"graphs/{}", "graphs/device"},
                                                          {"{}", "1"}}) {
      target = absl::StrReplaceAll(target, {{from, to}});
    }
    return target;
  }

  WebStory story_;
};

TEST_F(HostileTest, TextsOfTheDatasetComeBackAsData) {
  v1::Record run = storage::RunRecord('a');
  run.mutable_run()->set_kernel_name(kText);
  run.mutable_run()->set_input_shapes(std::string(60000, 'x'));
  run.mutable_run()->set_dtypes("");
  run.mutable_run()->set_hardware(kText);
  v1::Record attempt = storage::AttemptRecord('A', 'a');
  attempt.mutable_attempt()->set_origin(kText);
  attempt.mutable_attempt()->set_search_algorithm(kText);
  v1::Record row = storage::Row('A', 1, 1, 1);
  row.mutable_measurement()->set_status(kText);
  row.mutable_measurement()->mutable_failure()->set_message(std::string(100000, '\n') + kText);
  row.mutable_measurement()->mutable_failure()->set_phase(kText);
  story_.Send({run, attempt, row, storage::ConfigRecord(1, absl::StrCat("Config(x='", std::string(60000, 'y'), "')"))});
  story_.Refresh();
  const auto list = story_.Ask("runs");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->Find("items")->items[0].Find("kernel")->Find("label")->text, kText);
  EXPECT_EQ(list->Find("items")->items[0].Find("shapes")->Find("label")->text.size(), 303U);
  for (const char* const parameter : {"kernel", "shapes", "dtypes", "hardware", "origin", "algorithm"}) {
    const record::Json facets = *story_.Ask("facets");
    const std::string value = facets.Find(parameter)->items[0].Find("filter")->text;
    EXPECT_EQ(story_.Value(absl::StrCat("runs?", parameter, "=", Encoded(value)), "total"), "1") << parameter;
  }
  EXPECT_EQ(story_.Value(absl::StrCat("runs?q=", Encoded(kText)), "total"), "1");
  EXPECT_EQ(story_.Value(absl::StrCat("kernel?kernel=", Encoded(kText)), "cells.0.attempts"), "1");
  EXPECT_EQ(story_.AllPages(absl::StrCat("runs/", RunId('a'), "/rows?status=", Encoded(kText)), "seq"),
            std::vector<std::string>{"1"});
  EXPECT_EQ(story_.Value(absl::StrCat("runs/", RunId('a'), "/statuses"), "failures.0.rows"), "1");
}

TEST_F(HostileTest, TextsOfRequestsAreNoSql) {
  SendSample(&story_);
  const std::string before = story_.Value("runs", "total");
  for (const Endpoint& endpoint : Endpoints()) {
    for (const char* const parameter :
         {"kernel",    "shapes", "dtypes",  "hardware", "origin",    "algorithm", "dialect", "sender",    "state",
          "q",         "status", "failure", "reason",   "namespace", "version",   "knob",    "item",      "attempt",
          "config_id", "sort",   "cursor",  "limit",    "since",     "points",    "series",  "direction", "unknown"}) {
      for (const std::string& text :
           {std::string(kText), std::string("'"), std::string("?1"), std::string("x' OR '1'='1")}) {
        const auto code = story_.Code(absl::StrCat(Target(endpoint), "?", parameter, "=", Encoded(text)));
        EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument ||
                    code == absl::StatusCode::kNotFound)
            << endpoint.pattern << " " << parameter << " " << text << ": " << absl::StatusCodeToString(code);
      }
    }
  }
  EXPECT_EQ(story_.Value("runs", "total"), before);
}

TEST_F(HostileTest, CursorsOfAnyFormAreRefusedOrHarmless) {
  SendSample(&story_);
  const std::string quote = "27204f5220313d31202d2d";  // ' OR 1=1 --
  for (const Endpoint& endpoint : Endpoints()) {
    if (!endpoint.is_paged) continue;
    for (const std::string& cursor :
         {std::string("x"), std::string("1"), std::string("1v0"), absl::StrCat("1v", quote), std::string("1v00"),
          std::string("1vff"), std::string("-5n"), std::string("99999999999999999999v"),
          std::string("9223372036854775807v31"), std::string("1v6e616e")}) {
      const auto code = story_.Code(absl::StrCat(Target(endpoint), "?cursor=", cursor));
      EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument)
          << endpoint.pattern << " " << cursor << ": " << absl::StatusCodeToString(code);
    }
  }
}

TEST_F(HostileTest, RefusesWrongParameters) {
  SendSample(&story_);
  for (const Endpoint& endpoint : Endpoints()) {
    const std::string target = Target(endpoint);
    EXPECT_EQ(story_.Code(absl::StrCat(target, "?unknown=1")), absl::StatusCode::kInvalidArgument) << target;
    if (!endpoint.is_paged) continue;
    for (const char* const wrong : {"limit=0", "limit=501", "limit=x", "limit=1&limit=2", "cursor=zz"}) {
      EXPECT_EQ(story_.Code(absl::StrCat(target, "?", wrong)), absl::StatusCode::kInvalidArgument)
          << target << " " << wrong;
    }
  }
  const std::string run = absl::StrCat("runs/", RunId('a'));
  for (const std::string& wrong :
       {std::string("runs?since=x"), std::string("runs?state=none"), absl::StrCat("runs?q=", std::string(301, 'x')),
        run + "/points?points=9", run + "/points?points=4001", run + "/rows?sort=x", run + "/rows?config_id=x",
        run + "/knobs?attempt=x", std::string("regressions?direction=up"), std::string("producers?sort=x"),
        std::string("kernels?sort=x")}) {
    EXPECT_EQ(story_.Code(wrong), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

// Every list can be read without a parameter.
TEST_F(HostileTest, EveryEndpointAnswersAboutAnEmptyDataset) {
  story_.Refresh();
  for (const Endpoint& endpoint : Endpoints()) {
    if (endpoint.pattern.find("{}") != std::string_view::npos) {
      EXPECT_EQ(story_.Code(Target(endpoint)), absl::StatusCode::kNotFound) << endpoint.pattern;
      continue;
    }
    const auto code = story_.Code(Target(endpoint));
    EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument) << endpoint.pattern;
  }
}

}  // namespace
}  // namespace telemetry::web::api
