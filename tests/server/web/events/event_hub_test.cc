#include "server/web/events/event_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::web::events {
namespace {

absl::Status Everybody() { return absl::OkStatus(); }

// A hub whose summaries are "RUN:VERSION".
class HubStory {
 public:
  std::shared_ptr<EventStream> Open(const std::string& run_id = "", const std::string& network = "here") {
    return hub.Open(network, run_id, [this] { return admits ? absl::OkStatus() : absl::UnauthenticatedError("no"); });
  }
  void Publish(bool changed) {
    if (changed) ++version;
    const absl::Status status = hub.Publish(changed, [this](const std::string& run_id) -> absl::StatusOr<std::string> {
      ++made;
      return run_id + ":" + std::to_string(version);
    });
    EXPECT_TRUE(status.ok()) << status;
  }

  EventHub hub;
  bool admits = true;
  int version = 1;
  int made = 0;
};

std::string Take(EventStream& stream) {
  std::string text;
  stream.Take(&text, [] {});
  return text;
}

TEST(EventHub, ANewStreamGetsASummaryAtOnce) {
  HubStory story;
  const auto first = story.Open();
  story.Publish(/*changed=*/false);
  EXPECT_EQ(Take(*first), "event: summary\ndata: :1\n\n");
  const auto second = story.Open("run");
  story.Publish(/*changed=*/false);
  EXPECT_EQ(Take(*first), "");
  EXPECT_EQ(Take(*second), "event: summary\ndata: run:1\n\n");
}

TEST(EventHub, MakesOneSummaryForAllWhoFollowARun) {
  HubStory story;
  std::vector<std::shared_ptr<EventStream>> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(story.Open("run"));
  story.Publish(/*changed=*/true);
  EXPECT_EQ(story.made, 1);
  for (const auto& stream : streams) EXPECT_EQ(Take(*stream), "event: summary\ndata: run:2\n\n");
}

TEST(EventHub, ASlowClientGetsTheNewestSummary) {
  HubStory story;
  const auto stream = story.Open();
  story.Publish(/*changed=*/true);
  story.Publish(/*changed=*/true);
  EXPECT_EQ(Take(*stream), "event: summary\ndata: :3\n\n");
}

TEST(EventHub, WakesAWaitingStreamOnce) {
  HubStory story;
  const auto stream = story.Open();
  int wakes = 0;
  std::string text;
  EXPECT_TRUE(stream->Take(&text, [&] { ++wakes; }));
  story.Publish(/*changed=*/true);
  story.Publish(/*changed=*/true);
  EXPECT_EQ(wakes, 1);
}

TEST(EventHub, EndsTheStreamOfAReaderWhoMayNoLongerRead) {
  HubStory story;
  const auto stream = story.Open();
  story.admits = false;
  story.Publish(/*changed=*/false);
  std::string text;
  EXPECT_FALSE(stream->Take(&text, [] {}));
  EXPECT_EQ(text, "event: signed_out\ndata: {}\n\n");
  EXPECT_FALSE(stream->Take(&text, [] {}));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(stream->is_open());
}

TEST(EventHub, LimitsTheStreamsOfANetworkAndOfAll) {
  HubStory story;
  std::vector<std::shared_ptr<EventStream>> streams;
  for (size_t i = 0; i < EventHub::kMostOfNetwork; ++i) streams.push_back(story.Open("", "one"));
  EXPECT_EQ(story.Open("", "one"), nullptr);
  streams.front()->Close();
  EXPECT_NE(story.Open("", "one"), nullptr) << "a closed stream makes room";
  for (size_t i = story.hub.size(); i < EventHub::kMostStreams; ++i) {
    streams.push_back(story.Open("", "network " + std::to_string(i)));
    ASSERT_NE(streams.back(), nullptr);
  }
  EXPECT_EQ(story.Open("", "another"), nullptr);
}

TEST(EventHub, ForgetsStreamsThatWereClosed) {
  HubStory story;
  story.Open()->Close();
  story.Publish(/*changed=*/true);
  EXPECT_EQ(story.hub.size(), 0U);
  EXPECT_EQ(story.made, 0);
}

TEST(EventHub, WaitsForStreams) {
  EventHub hub;
  hub.AwaitOpened(SteadyNow());  // nothing was opened: ends at its deadline
  const auto stream = hub.Open("here", "", Everybody);
  hub.AwaitOpened(kNever);
  hub.Close();
  hub.AwaitOpened(kNever);
  EXPECT_EQ(hub.Open("here", "", Everybody), nullptr);
}

}  // namespace
}  // namespace telemetry::web::events
