// Tests the cache while several collectors put entries.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "tests/server/storage/test_dataset.h"

namespace telemetry::storage::postgresql {
namespace {

constexpr CacheBudget kBudget = {.total_bytes = 200'000, .sender_bytes = 60'000, .max_age = absl::InfiniteDuration()};

CachePut MakeEntry(const std::string& sender, int key) {
  CachePut put = {.sender = sender, .entry = {}};
  put.entry.set_namespace_("test");
  put.entry.set_key(absl::StrCat(key));
  put.entry.set_value(std::string(9'000, 'v'));
  return put;
}

TEST(CacheBesideWritersTest, BytesAndBudgetsHoldWhenManyPutAtOnce) {
  const std::unique_ptr<TestDataset> dataset = NewPostgresqlDataset();
  ASSERT_TRUE(OpenPostgresqlWriter(dataset->db()).ok());
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) {
    threads.emplace_back([&dataset, writer] {
      const std::unique_ptr<StoreWriter> own = *OpenPostgresqlWriter(dataset->db(), {.patience = absl::Seconds(60)});
      for (int i = 0; i < 25; ++i) {
        // The senders overlap: each writer puts entries of all of them.
        const auto outcomes = own->PutCacheEntries(
            {MakeEntry("token shared", i), MakeEntry(absl::StrCat("token ", (writer + i) % 5), writer)}, kBudget);
        EXPECT_TRUE(outcomes.ok()) << outcomes.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM cache_senders AS s WHERE s.size_bytes <> (SELECT sum(e.size_bytes) "
                           "FROM cache_entries AS e WHERE e.cache_sender = s.cache_sender)"),
            "0");
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM cache_senders WHERE size_bytes > 60000 OR size_bytes <= 0"), "0");
  EXPECT_EQ(dataset->Query("SELECT sum(size_bytes) <= 200000 FROM cache_senders"), "t");
  EXPECT_EQ(dataset->Query("SELECT count(*) FROM cache_senders"), "6");
}

}  // namespace
}  // namespace telemetry::storage::postgresql
