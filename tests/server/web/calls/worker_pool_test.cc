#include "server/web/calls/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace telemetry::web::calls {
namespace {

using ::testing::ElementsAre;

// A pool of one thread that is kept busy until Release(), and the names of the works that ran.
class PoolStory {
 public:
  explicit PoolStory(size_t most_waiting = 100) : pool_(1, most_waiting) {
    pool_.Submit("busy", [this](size_t) {
      started_.Notify();
      release_.WaitForNotification();
    });
    started_.WaitForNotification();
  }
  ~PoolStory() { Release(); }

  bool Submit(const std::string& network, const std::string& name) {
    return pool_.Submit(network, [this, name](size_t) { Add(name); });
  }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }
  // Lets the works run. Returns the names of those that ran before the work of one more network, in their order.
  std::vector<std::string> RunUntilAnotherNetwork() {
    absl::Notification last;
    std::vector<std::string> names;
    EXPECT_TRUE(pool_.Submit("another", [&](size_t) {
      absl::MutexLock lock(&mutex_);
      names = names_;
      last.Notify();
    }));
    Release();
    last.WaitForNotification();
    return names;
  }
  WorkerPool& pool() { return pool_; }

 private:
  void Add(const std::string& name) {
    absl::MutexLock lock(&mutex_);
    names_.push_back(name);
  }

  absl::Notification started_;
  absl::Notification release_;
  absl::Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  WorkerPool pool_;
};

TEST(WorkerPool, NetworksTakeTurns) {
  PoolStory story;
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_TRUE(story.Submit("a", name));
  EXPECT_TRUE(story.Submit("b", "b1"));
  EXPECT_EQ(story.pool().waiting(), 4U);
  EXPECT_THAT(story.RunUntilAnotherNetwork(), ElementsAre("a1", "b1"));
}

TEST(WorkerPool, RefusesTheNetworkOfWhichTooMuchWaits) {
  PoolStory story(/*most_waiting=*/2);
  EXPECT_TRUE(story.Submit("a", "a1"));
  EXPECT_TRUE(story.Submit("a", "a2"));
  EXPECT_FALSE(story.Submit("a", "a3"));
  EXPECT_TRUE(story.Submit("b", "b1"));
}

TEST(WorkerPool, DropsWhatWaitsAtTheEnd) {
  PoolStory story;
  bool ran = false;
  EXPECT_TRUE(story.pool().Submit("a", [&](size_t) { ran = true; }));
  std::thread stopping([&] { story.pool().Stop(); });
  while (story.pool().waiting() > 0) continue;
  story.Release();
  stopping.join();
  EXPECT_FALSE(ran);
  EXPECT_FALSE(story.Submit("a", "late"));
}

}  // namespace
}  // namespace telemetry::web::calls
