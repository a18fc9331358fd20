#include "worker/tune/known_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/client/fake_cache.h"
#include "tests/client/fake_dataset.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class KnownConfigsTest : public testing::Test {
 protected:
  KnownConfigsTest() { run_ = MakeRun('a', "[(64, 64)]"); }
  ~KnownConfigsTest() override { fs::remove_all(folder_); }

  static v1::Run MakeRun(char digit, const std::string& shapes) {
    v1::Run run;
    run.set_run_id(std::string(64, digit));
    run.set_kernel_name("softmax");
    run.set_input_shapes(shapes);
    run.set_dtypes("['torch.float32']");
    run.set_hardware("H");
    return run;
  }
  void Cache(char digit, int warps, double perf_ms) {
    ASSERT_TRUE(
        cache_.Put(MakeBestConfig(MakeRun(digit, "[(1, 1)]"), *codegen::Config::Parse(Text(warps)), perf_ms, "")).ok());
  }
  void Collect(char digit, const std::string& shapes, int warps, double perf_ms = 1) {
    dataset_.Add(digit, "softmax", shapes, Text(warps), perf_ms);
  }
  static std::string Text(int warps) { return "Config(num_warps=" + std::to_string(warps) + ")"; }

  void Share(char digit, int warps) {
    const BestConfig best = MakeBestConfig(MakeRun(digit, "[(1, 1)]"), *codegen::Config::Parse(Text(warps)), 1, "");
    EXPECT_TRUE(shared_.Put(best, record::Json::Object()).ok());
  }

  KnownSources Sources(client::DatasetClient* collector, SharedCache* shared = nullptr) {
    return {.cache = &cache_, .collector = collector, .shared = shared, .on_notice = [this](const std::string& text) {
              notices_.push_back(text);
            }};
  }
  // Returns the num_warps of the starting points.
  std::vector<std::string> Start(client::DatasetClient* collector, SharedCache* shared = nullptr) {
    std::vector<std::string> warps;
    for (const codegen::Config& config : FindKnownConfigs(run_, Sources(collector, shared)).starting_points) {
      warps.push_back(config.json().Find("num_warps")->text);
    }
    return warps;
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      ("known-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
  const BestConfigCache cache_{(folder_ / "best").string()};
  client::FakeDataset dataset_{(fs::create_directories(folder_), folder_.string())};
  client::DatasetClient collector_{{.collector = dataset_.address()}};
  client::FakeCache shared_service_{folder_.string()};
  SharedCache shared_{{.collector = shared_service_.address(), .deadline = absl::Seconds(30)}};
  client::DatasetClient nobody_{{.collector = "unix:" + (folder_ / "nobody").string()}};
  std::vector<std::string> notices_;
  v1::Run run_;
};

TEST_F(KnownConfigsTest, TheSameRunComesFirstThenTheNearestShapes) {
  Collect('b', "[(4096, 4096)]", 16);
  Collect('c', "[(128, 64)]", 4);
  Collect('d', "[(64,)]", 32);
  Collect('e', "[(512, 64)]", 8);
  Collect('a', "[(64, 64)]", 2);
  Cache('b', 1, 1);
  EXPECT_THAT(Start(&collector_), ElementsAre("2", "1", "4", "8", "16", "32"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(KnownConfigsTest, TheSharedConfigOfTheRunComesBeforeTheCollectors) {
  Collect('a', "[(64, 64)]", 2);
  Share('a', 4);
  Share('b', 8);
  Cache('a', 1, 1);
  EXPECT_THAT(Start(&collector_, &shared_), ElementsAre("1", "4", "2"));
  EXPECT_THAT(Start(nullptr, &shared_), ElementsAre("1", "4"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(KnownConfigsTest, ASharedValueThatIsNoConfigOfTheRunIsIgnored) {
  Collect('a', "[(64, 64)]", 2);
  v1::CacheEntry entry;
  entry.set_namespace_(SharedCache::kNamespace);
  entry.set_key(run_.run_id());
  client::CacheClient client({.collector = shared_service_.address(), .deadline = absl::Seconds(30)});
  for (const char* value : {"", "{}", "[[", R"({"run_id": "b", "config": {"num_warps": 4}, "perf_ms": 1})"}) {
    entry.set_value(value);
    ASSERT_TRUE(client.Put(entry).ok());
    EXPECT_THAT(Start(&collector_, &shared_), ElementsAre("2")) << value;
  }
  EXPECT_EQ(notices_.size(), 4u);
}

TEST_F(KnownConfigsTest, ASilentCacheCostsOneDeadlineAndNoFurtherQuery) {
  shared_service_.Hang();
  SharedCache silent({.collector = shared_service_.address(), .deadline = absl::Milliseconds(50)});
  EXPECT_THAT(Start(&collector_, &silent), IsEmpty());
  EXPECT_EQ(notices_.size(), 1u);
  EXPECT_EQ(dataset_.calls(), 0);
  EXPECT_TRUE(silent.is_absent());
  // The dataset is queried by the next attempt, and the cache is not.
  const int calls = shared_service_.calls();
  Collect('a', "[(64, 64)]", 2);
  EXPECT_THAT(Start(&collector_, &silent), ElementsAre("2"));
  EXPECT_EQ(shared_service_.calls(), calls);
}

TEST_F(KnownConfigsTest, ACollectorWithoutACacheIsAskedForItsRuns) {
  Collect('a', "[(64, 64)]", 2);
  SharedCache older({.collector = dataset_.address(), .deadline = absl::Seconds(30)});
  EXPECT_THAT(Start(&collector_, &older), ElementsAre("2"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(KnownConfigsTest, AConfigIsThereOnce) {
  Collect('a', "[(64, 64)]", 2);
  Collect('b', "[(64, 64)]", 2);
  Cache('a', 2, 1);
  Cache('c', 2, 1);
  EXPECT_THAT(Start(&collector_), ElementsAre("2"));
}

TEST_F(KnownConfigsTest, OtherKernelsHardwareAndRunsWithoutABestAreNotUsed) {
  dataset_.Add('b', "add", "[(64, 64)]", Text(2), 1);
  dataset_.Add('c', "softmax", "[(64, 64)]", "", 1);
  run_.set_hardware("G");
  Collect('d', "[(64, 64)]", 4);
  EXPECT_THAT(Start(&collector_), IsEmpty());
}

TEST_F(KnownConfigsTest, ThereAreNoMoreThanASearchCanUse) {
  for (const char digit : std::string("bcdef0123456789")) Collect(digit, "[(64, 64)]", 1 << (digit % 16));
  EXPECT_EQ(Start(&collector_).size(), 5u);
}

TEST_F(KnownConfigsTest, ACollectorThatIsAwayIsANotice) {
  Cache('b', 1, 1);
  EXPECT_THAT(Start(&nobody_), ElementsAre("1"));
  EXPECT_THAT(notices_, ElementsAre(testing::HasSubstr("nobody")));
}

TEST_F(KnownConfigsTest, OfTwoBestTheFasterOneIsTaken) {
  EXPECT_TRUE(absl::IsNotFound(FindBestConfig(run_, Sources(&collector_)).status()));
  Collect('a', "[(64, 64)]", 4, /*perf_ms=*/0.5);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(4));
  Cache('a', 8, /*perf_ms=*/0.7);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(4));
  Cache('a', 16, /*perf_ms=*/0.3);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(16));
  EXPECT_EQ(FindBestConfig(run_, Sources(nullptr))->config.ToString(), Text(16));
}

TEST_F(KnownConfigsTest, AFinalIsTakenBeforeALuckySearchRow) {
  v1::RunSummary lucky;
  *lucky.mutable_run() = run_;
  lucky.set_best_config(Text(4));
  lucky.set_best_perf_ms(0.1);
  dataset_.Add(lucky);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(4)) << "nothing better is known";
  Cache('a', 8, /*perf_ms=*/0.7);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(8));
  lucky.set_best_is_final(true);
  dataset_.Add(lucky);
  EXPECT_EQ(FindBestConfig(run_, Sources(&collector_))->config.ToString(), Text(4));
}

TEST_F(KnownConfigsTest, ACollectorThatIsAwayIsAnErrorOnlyWhereTheCacheHasNone) {
  EXPECT_TRUE(absl::IsUnavailable(FindBestConfig(run_, Sources(&nobody_)).status()));
  Cache('a', 8, 0.7);
  EXPECT_EQ(FindBestConfig(run_, Sources(&nobody_))->config.ToString(), Text(8));
  EXPECT_EQ(notices_.size(), 1u);
}

TEST(ShapeDistanceTest, CountsDoublings) {
  EXPECT_EQ(search::ShapeDistance("[(64, 64)]", "[(64, 64)]"), 0);
  EXPECT_EQ(search::ShapeDistance("[(64, 64)]", "[(32, 256)]"), 3);
  EXPECT_TRUE(std::isinf(search::ShapeDistance("[(64, 64)]", "[(64,)]")));
  EXPECT_EQ(search::ShapeDistance("", ""), 0);
}

}  // namespace
}  // namespace telemetry::worker::tune
