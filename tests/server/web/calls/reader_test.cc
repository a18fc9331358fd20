#include "server/web/calls/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/http/target.h"
#include "tests/server/web/web_sample.h"

namespace telemetry::web::calls {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A reader that keeps every answer for as long as its stamp is the same.
class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() : reader_(sources_, story_.state(), answers_) { SendSample(&story_); }

  std::string Ask(const std::string& target) {
    const auto parsed = http::ParseTarget(absl::StrCat("/api/v1/", target));
    const auto call = FindCall(*parsed);
    const auto answer = call.ok() ? reader_.AnswerJson(*call) : call.status();
    return answer.ok() ? *answer : answer.status().ToString();
  }
  static std::string OfA(const std::string& part) { return absl::StrCat("runs/", storage::RunId('a'), part); }

  WebStory story_;
  const Sources sources_ = {.dataset = [this] { return OpenDataset(story_.dataset().path()); },
                            .scratch = [this] { return story_.OpenSummaries(); }};
  AnswerCache answers_{{.least_time = absl::ZeroDuration(), .most_age = absl::Hours(1)}};
  Reader reader_;
};

TEST_F(ReaderTest, KeepsAnswersUntilTheRunChanges) {
  const std::string before = Ask(OfA("/statuses"));
  const size_t bytes = answers_.bytes();
  EXPECT_GT(bytes, before.size());
  EXPECT_EQ(Ask(OfA("/statuses")), before);
  EXPECT_EQ(answers_.bytes(), bytes);
  // Rows of another run change nothing.
  story_.Send({storage::Row('D', 2, 7, 2)}, "ci");
  story_.Refresh();
  EXPECT_EQ(Ask(OfA("/statuses")), before);
  EXPECT_EQ(answers_.bytes(), bytes);
  story_.Send({storage::Row('B', 3, 1.05, 3)});
  story_.Refresh();
  EXPECT_NE(Ask(OfA("/statuses")), before);
}

TEST_F(ReaderTest, ParametersHaveAnswersOfTheirOwn) {
  const std::string all = Ask(OfA("/rows"));
  EXPECT_NE(Ask(OfA("/rows?limit=1")), all);
  EXPECT_NE(Ask(OfA("/rows?limit=2")), Ask(OfA("/rows?limit=1")));
  EXPECT_NE(Ask(OfA("/knobs")), Ask(OfA("/points")));
}

TEST_F(ReaderTest, AComparisonChangesWithEachOfItsItems) {
  const std::string pair = absl::StrCat("compare?item=", RunItem('a'), "&item=", RunItem('b'));
  const std::string devices = "compare?item=device:NVIDIA%20H200&item=device:NVIDIA%20A100&kernel=softmax";
  const std::string before = Ask(pair);
  const std::string of_devices = Ask(devices);
  story_.Send({storage::Row('C', 3, 0.5, 1)}, "ci");
  story_.Refresh();
  EXPECT_THAT(before, Not(HasSubstr("0.5,")));
  EXPECT_NE(Ask(pair), before);
  EXPECT_NE(Ask(devices), of_devices);
}

TEST_F(ReaderTest, ARemovedAttemptIsNotShownAgain) {
  const std::string before = Ask(OfA("/convergence"));
  story_.Remove('B');
  story_.Refresh();
  EXPECT_THAT(before, HasSubstr(AttemptHex('B')));
  EXPECT_THAT(Ask(OfA("/convergence")), Not(HasSubstr(AttemptHex('B'))));
}

TEST_F(ReaderTest, WrongCallsAreErrors) {
  EXPECT_THAT(Ask("runs/xyz/knobs"), HasSubstr("NOT_FOUND"));
  EXPECT_THAT(Ask("compare?item=nothing&item=" + RunItem('a')), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(Ask("compare?kernel=x"), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(Ask(OfA("/knobs?surprise=1")), HasSubstr("surprise"));
}

}  // namespace
}  // namespace telemetry::web::calls
