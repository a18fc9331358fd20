#include "server/net/process_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::net {
namespace {

TEST(ProcessMemory, IsScarceBeyondTheLimit) {
  EXPECT_TRUE(ProcessMemory(1).IsScarce());
  EXPECT_FALSE(ProcessMemory(uint64_t{1} << 40).IsScarce());
  EXPECT_FALSE(ProcessMemory(0).IsScarce()) << "there is no limit";
}

// The last block prevents the heap from shrinking by itself. Memory that jemalloc's own thread is returning counts
// until it is done.
TEST(ProcessMemory, FreeMemoryOfTheHeapDoesNotCount) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers use their own heap";
#endif
  constexpr size_t kBlocks = 32'768;
  constexpr size_t kBlockBytes = 4096;
  constexpr uint64_t kLimitBytes = kBlocks * kBlockBytes / 2;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(std::make_unique<char[]>(kBlockBytes));
    std::memset(blocks.back().get(), 1, kBlockBytes);
  }
  EXPECT_TRUE(ProcessMemory(kLimitBytes).IsScarce());
  blocks.erase(blocks.begin(), blocks.end() - 1);
  const SteadyTime deadline = SteadyAfter(absl::Seconds(30));
  while (ProcessMemory(kLimitBytes).IsScarce()) {
    ASSERT_LT(SteadyNow(), deadline);
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace telemetry::net
