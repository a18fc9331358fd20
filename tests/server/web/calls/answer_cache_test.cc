#include "server/web/calls/answer_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/synchronization/notification.h"

namespace telemetry::web::calls {
namespace {

// A cache, and the number of answers that were computed.
class CacheStory {
 public:
  explicit CacheStory(const AnswerCache::Options& options) : cache_(options) {}

  std::string Ask(const std::string& key, const std::string& computed) {
    const absl::StatusOr<std::string> answer = cache_.Answer(key, [&]() -> absl::StatusOr<std::string> {
      ++computed_;
      return computed;
    });
    return answer.ok() ? *answer : answer.status().ToString();
  }
  int computed() const { return computed_; }
  AnswerCache& cache() { return cache_; }

 private:
  AnswerCache cache_;
  int computed_ = 0;
};

TEST(AnswerCache, ReturnsTheKeptAnswerOfAKey) {
  CacheStory story({.least_time = absl::ZeroDuration()});
  EXPECT_EQ(story.Ask("a", "first"), "first");
  EXPECT_EQ(story.Ask("a", "second"), "first");
  EXPECT_EQ(story.Ask("b", "other"), "other");
  EXPECT_EQ(story.computed(), 2);
}

TEST(AnswerCache, KeepsNoAnswerThatWasFast) {
  CacheStory story({.least_time = absl::Hours(1)});
  story.Ask("a", "first");
  EXPECT_EQ(story.Ask("a", "second"), "second");
  EXPECT_EQ(story.cache().bytes(), 0U);
}

TEST(AnswerCache, KeepsAnAnswerForALimitedTime) {
  CacheStory story({.least_time = absl::ZeroDuration(), .most_age = absl::ZeroDuration()});
  story.Ask("a", "first");
  EXPECT_EQ(story.Ask("a", "second"), "second");
}

TEST(AnswerCache, KeepsTheAnswersThatWereUsedLast) {
  CacheStory story({.most_bytes = 10000, .least_time = absl::ZeroDuration()});
  const std::string answer(4000, 'x');
  story.Ask("a", answer);
  story.Ask("b", answer);
  story.Ask("a", "used");
  story.Ask("c", answer);  // replaces b
  EXPECT_LE(story.cache().bytes(), 10000U);
  EXPECT_EQ(story.Ask("a", "new"), answer);
  EXPECT_EQ(story.Ask("c", "new"), answer);
  EXPECT_EQ(story.Ask("b", "new"), "new");
}

TEST(AnswerCache, KeepsNoAnswerThatIsLargerThanItself) {
  CacheStory story({.most_bytes = 10000, .least_time = absl::ZeroDuration()});
  story.Ask("a", "small");
  story.Ask("b", std::string(20000, 'x'));
  EXPECT_EQ(story.Ask("a", "new"), "small");
  EXPECT_EQ(story.Ask("b", "new"), "new");
}

TEST(AnswerCache, KeepsNoError) {
  AnswerCache cache({.least_time = absl::ZeroDuration()});
  const auto fail = []() -> absl::StatusOr<std::string> { return absl::UnavailableError("the disk is gone"); };
  EXPECT_TRUE(absl::IsUnavailable(cache.Answer("a", fail).status()));
  EXPECT_EQ(cache.Answer("a", [] { return absl::StatusOr<std::string>("good"); }).value(), "good");
}

TEST(AnswerCache, ComputesAnAnswerOnceForClientsThatAskTogether) {
  AnswerCache cache({.least_time = absl::ZeroDuration()});
  absl::Notification begun;
  absl::Notification end;
  std::thread first([&] {
    EXPECT_EQ(cache
                  .Answer("a",
                          [&]() -> absl::StatusOr<std::string> {
                            begun.Notify();
                            end.WaitForNotification();
                            return "first";
                          })
                  .value(),
              "first");
  });
  begun.WaitForNotification();
  std::thread second(
      [&] { EXPECT_EQ(cache.Answer("a", [] { return absl::StatusOr<std::string>("second"); }).value(), "first"); });
  // Another key does not wait.
  EXPECT_EQ(cache.Answer("b", [] { return absl::StatusOr<std::string>("other"); }).value(), "other");
  end.Notify();
  first.join();
  second.join();
}

}  // namespace
}  // namespace telemetry::web::calls
