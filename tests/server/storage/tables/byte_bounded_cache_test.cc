#include "server/storage/tables/byte_bounded_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace telemetry::storage::tables {
namespace {

TEST(ByteBoundedCache, RemembersWhatFits) {
  ByteBoundedCache<std::string, int64_t> cache(10'000);
  cache.emplace("one", 1);
  cache.emplace("two", 2);
  cache.emplace("one", 3);
  ASSERT_NE(cache.find("one"), cache.end());
  EXPECT_EQ(cache.find("one")->second, 1) << "as a map";
  EXPECT_TRUE(cache.contains("two"));
  cache.erase("two");
  EXPECT_FALSE(cache.contains("two"));
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(ByteBoundedCache, TakesNoMoreThanItsBudgetHoweverLargeTheKeys) {
  constexpr uint64_t kBudget = 100'000;
  ByteBoundedCache<std::string, int64_t> cache(kBudget);
  for (int i = 0; i < 10'000; ++i) {
    cache.emplace(absl::StrCat(std::string(i % 1000, 'x'), i), i);
    ASSERT_LE(cache.bytes(), kBudget);
    ASSERT_TRUE(cache.contains(absl::StrCat(std::string(i % 1000, 'x'), i)));
  }
  EXPECT_GT(cache.size(), 10u);
}

TEST(ByteBoundedCache, AnEntryWithoutRoomIsNotKeptAndRemovesNothing) {
  ByteBoundedCache<std::string, int64_t> cache(1000);
  cache.emplace("small", 1);
  cache.emplace(std::string(1000, 'x'), 2);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(cache.contains("small"));
}

TEST(ByteBoundedCache, BytesAreGivenBackWithTheEntry) {
  ByteBoundedCache<std::string, int64_t> cache(10'000);
  for (int i = 0; i < 1000; ++i) {
    cache.emplace(absl::StrCat(std::string(5000, 'x'), i), i);
    cache.erase(absl::StrCat(std::string(5000, 'x'), i));
  }
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(ByteBoundedCache, APairCountsBothTexts) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_GE(HeapBytes(Texts(std::string(1000, 'a'), std::string(2000, 'b'))), 3000u);
  EXPECT_EQ(HeapBytes(std::pair<int64_t, int64_t>(1, 2)), 0u);
}

}  // namespace
}  // namespace telemetry::storage::tables
