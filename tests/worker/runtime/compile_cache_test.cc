#include "worker/runtime/compile_cache.h"

#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"

namespace telemetry::worker::runtime {
namespace {

TEST(CompileCacheTest, EachSourceIsCompiledOncePerDevice) {
  FakeDevice first;
  FakeDevice second({.ordinal = 1});
  CompileCache cache;
  const auto loaded = *cache.Get(first, "a", "f");
  EXPECT_EQ(*cache.Get(first, "a", "f"), loaded);
  EXPECT_NE(*cache.Get(first, "b", "f"), loaded);
  EXPECT_NE(*cache.Get(second, "a", "f"), loaded);
  EXPECT_EQ(first.compile_count(), 2);
  EXPECT_EQ(second.compile_count(), 1);
  cache.Clear();
  EXPECT_NE(*cache.Get(first, "a", "f"), loaded);
}

TEST(CompileCacheTest, OnlyThatASourceIsWrongIsRemembered) {
  FakeDevice device({.compile = [](const std::string& source) {
    return source == "wrong" ? absl::InvalidArgumentError("") : absl::UnavailableError("");
  }});
  CompileCache cache;
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(cache.Get(device, "wrong", "f").ok());
    EXPECT_FALSE(cache.Get(device, "unlucky", "f").ok());
  }
  EXPECT_EQ(device.compiles()["wrong"], 1);
  EXPECT_EQ(device.compiles()["unlucky"], 2);
}

TEST(CompileCacheTest, OtherSourcesAreCompiledMeanwhile) {
  absl::Notification other_is_done;
  FakeDevice device({.compile = [&](const std::string& source) {
    if (source == "slow") other_is_done.WaitForNotification();
    return absl::OkStatus();
  }});
  CompileCache cache;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { EXPECT_TRUE(cache.Get(device, "slow", "f").ok()); });
  EXPECT_TRUE(cache.Get(device, "quick", "f").ok());
  other_is_done.Notify();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device.compiles()["slow"], 1);
}

}  // namespace
}  // namespace telemetry::worker::runtime
