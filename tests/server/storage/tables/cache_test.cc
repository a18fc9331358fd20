// Tests the cache of a dataset: the entries of several senders, budgets, ages and lists.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/cache_put.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/tables/cache_table.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class CacheTest : public ::testing::Test {
 protected:
  static CachePut MakePut(const std::string& sender, const std::string& key, const std::string& value) {
    CachePut put = {.sender = sender, .entry = {}};
    put.entry.set_namespace_("test");
    put.entry.set_key(key);
    put.entry.set_value(value);
    return put;
  }
  // Returns a value with which an entry with a key of one character is charged for a quarter of a MiB.
  static std::string Quarter() { return std::string(kMiB / 4 - kCacheEntryBaseBytes - 5, 'v'); }

  CachePutOutcome Put(const CachePut& put) {
    const auto outcomes = story_.writer().PutCacheEntries({put}, budget_);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes->front();
  }
  void PutQuarter(const std::string& sender, const std::string& key) {
    const CachePutOutcome outcome = Put(MakePut(sender, key, Quarter()));
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  }

  absl::StatusOr<v1::CacheEntry> Get(const std::string& key, const std::vector<std::string>& senders = {},
                                     const std::string& hardware = "", int64_t oldest_unix_us = 0) {
    v1::GetCacheRequest request;
    request.set_namespace_("test");
    request.set_key(key);
    request.set_hardware(hardware);
    for (const std::string& sender : senders) request.add_senders(sender);
    return story_.OpenReader()->GetCacheEntry(request, oldest_unix_us);
  }
  // Returns "sender:value", or the code of the error.
  std::string Found(const std::string& key, const std::vector<std::string>& senders = {},
                    const std::string& hardware = "") {
    const absl::StatusOr<v1::CacheEntry> entry = Get(key, senders, hardware);
    return entry.ok() ? absl::StrCat(entry->sender(), ":", entry->value())
                      : absl::StatusCodeToString(entry.status().code());
  }
  // Returns "sender:key" of all listed entries, over all pages.
  std::vector<std::string> List(v1::ListCacheRequest request = {}, int64_t oldest_unix_us = 0) {
    std::vector<std::string> names;
    do {
      const auto page = story_.OpenReader()->ListCacheEntries(request, oldest_unix_us);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      for (const v1::CacheEntry& entry : page->entries()) names.push_back(entry.sender() + ":" + entry.key());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return names;
  }
  // Checks that the stored bytes of each sender are those of its entries.
  void ExpectBytesMatch() {
    EXPECT_EQ(story_.Query("SELECT count(*) FROM cache_senders AS s WHERE s.size_bytes <> (SELECT sum(e.size_bytes) "
                           "FROM cache_entries AS e WHERE e.cache_sender = s.cache_sender)"),
              "0");
    EXPECT_EQ(story_.Query("SELECT count(*) FROM cache_senders WHERE size_bytes <= 0"), "0");
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  DatasetStory story_{{.clock = [this] { return now_; }}};
  CacheBudget budget_ = {.total_bytes = 4 * kMiB, .sender_bytes = kMiB};
};

TEST_F(CacheTest, APutWithAConditionReplacesOnlyAnEntryThatFulfilsIt) {
  const auto put_if = [this](const std::string& value, const std::vector<std::string>& values, int64_t max_age_us = 0) {
    CachePut put = MakePut("a", "k", value);
    put.condition.emplace().set_max_age_us(max_age_us);
    for (const std::string& expected : values) put.condition->add_values(expected);
    return Put(put).kept;
  };
  Put(MakePut("b", "k", "of another"));
  EXPECT_FALSE(put_if("1", {}).has_value());
  EXPECT_FALSE(put_if("2", {"x", "1"}).has_value());
  const std::optional<v1::CacheEntry> kept = put_if("3", {"1", "of another"});
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->sender() + ":" + kept->value(), "a:2");
  EXPECT_EQ(Found("k", {"a"}), "a:2");

  CachePut put = MakePut("a", "k", "4");
  put.condition.emplace().set_max_age_us(3'600'000'000);
  const CachePutOutcome outcome = Put(put);
  ASSERT_TRUE(outcome.kept.has_value());
  EXPECT_GE(outcome.kept_age_us, 0);
  // PostgreSQL has its own clock, which passes by itself.
  do {
    now_ += absl::Microseconds(2);
  } while (put_if("4", {}, 1).has_value());
  EXPECT_EQ(Found("k", {"a"}), "a:4");
  ExpectBytesMatch();
}

TEST_F(CacheTest, AConditionIsNotComparedWithALongValue) {
  const std::string value(kMaxConditionBytes + 1, 'v');
  Put(MakePut("a", "k", value));
  CachePut put = MakePut("a", "k", "new");
  put.condition.emplace().add_values(value);
  const CachePutOutcome outcome = Put(put);
  ASSERT_TRUE(outcome.kept.has_value());
  EXPECT_EQ(outcome.kept->value(), "");
  EXPECT_EQ(Found("k"), "a:" + value);
}

TEST_F(CacheTest, AnEntryIsReturnedWithItsProvenance) {
  CachePut put = MakePut("token a", "k", std::string("\0\xff{}", 4));
  put.entry.set_attempt_id(AttemptId('x'));
  put.entry.set_hardware("NVIDIA H200");
  put.entry.set_versions_json(R"({"triton": "3.6"})");
  ASSERT_TRUE(Put(put).status.ok());
  story_.Restart();
  const absl::StatusOr<v1::CacheEntry> entry = Get("k");
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->value(), put.entry.value());
  EXPECT_EQ(entry->sender(), "token a");
  EXPECT_GT(entry->stored_unix_us(), 0);
  EXPECT_EQ(entry->attempt_id(), AttemptId('x'));
  EXPECT_EQ(entry->hardware(), "NVIDIA H200");
  EXPECT_EQ(entry->versions_json(), R"({"triton": "3.6"})");
  EXPECT_EQ(Found("other"), "NOT_FOUND");
}

TEST_F(CacheTest, EachSenderHasItsOwnEntryAndTheNewestIsReturned) {
  Put(MakePut("token a", "k", "1"));
  Put(MakePut("token b", "k", "2"));
  EXPECT_EQ(Found("k"), "token b:2");
  EXPECT_EQ(Found("k", {"token a"}), "token a:1");
  EXPECT_EQ(Found("k", {"token a", "token b", "token c"}), "token b:2");
  EXPECT_EQ(Found("k", {"token c"}), "NOT_FOUND");
  Put(MakePut("token a", "k", "3"));
  EXPECT_EQ(Found("k"), "token a:3");
  EXPECT_EQ(Found("k", {"token b"}), "token b:2");
  EXPECT_THAT(List(), ElementsAre("token a:k", "token b:k"));
  ExpectBytesMatch();
}

TEST_F(CacheTest, AnEntryOfOtherHardwareIsNotReturned) {
  CachePut put = MakePut("token a", "k", "1");
  put.entry.set_hardware("A");
  Put(put);
  put = MakePut("token b", "k", "2");
  put.entry.set_hardware("B");
  Put(put);
  EXPECT_EQ(Found("k", {}, "A"), "token a:1");
  EXPECT_EQ(Found("k", {}, "C"), "NOT_FOUND");
}

TEST_F(CacheTest, ASenderAboveItsBudgetLosesItsOwnOldestEntries) {
  PutQuarter("token other", "o");
  for (const char* key : {"1", "2", "3", "4"}) PutQuarter("token a", key);
  EXPECT_EQ(Put(MakePut("token a", "5", Quarter())).removed, 1u);
  EXPECT_THAT(List(), ElementsAre("token a:5", "token a:4", "token a:3", "token a:2", "token other:o"));
  // An entry that is put again takes the place of the old one.
  EXPECT_EQ(Put(MakePut("token a", "2", Quarter())).removed, 0u);
  EXPECT_THAT(List(), ElementsAre("token a:2", "token a:5", "token a:4", "token a:3", "token other:o"));
  ExpectBytesMatch();
}

TEST_F(CacheTest, AFloodOfPutsLeavesTheEntriesOfOthers) {
  PutQuarter("token small", "s");
  std::vector<CachePut> flood;
  for (int i = 0; i < 64; ++i) flood.push_back(MakePut("token flood", absl::StrCat(i), std::string(100'000, 'f')));
  for (int round = 0; round < 10; ++round) ASSERT_TRUE(story_.writer().PutCacheEntries(flood, budget_).ok());
  EXPECT_EQ(Found("s"), "token small:" + Quarter());
  v1::ListCacheRequest request;
  request.set_sender("token flood");
  EXPECT_EQ(List(request).size(), 10u);
  ExpectBytesMatch();
}

TEST_F(CacheTest, TheSenderThatHoldsMostMakesRoomForOthers) {
  budget_.total_bytes = 2 * kMiB;
  for (const char* sender : {"token a", "token b"}) {
    for (const char* key : {"1", "2", "3"}) PutQuarter(sender, key);
  }
  PutQuarter("token a", "4");
  PutQuarter("token small", "s");
  // The total is reached. The next entry of another sender displaces the oldest entry of "a", which holds most.
  PutQuarter("token new", "n");
  EXPECT_EQ(Found("1", {"token a"}), "NOT_FOUND");
  // Now "a" and "b" hold as much as each other. An entry of "b" displaces the oldest one of "b".
  PutQuarter("token b", "4");
  EXPECT_THAT(List(), ElementsAre("token b:4", "token new:n", "token small:s", "token a:4", "token b:3", "token b:2",
                                  "token a:3", "token a:2"));
  ExpectBytesMatch();
}

TEST_F(CacheTest, AnEntryAboveTheBudgetIsRefusedAndChangesNothing) {
  Put(MakePut("token a", "k", "1"));
  const auto outcomes = story_.writer().PutCacheEntries(
      {MakePut("token a", "k", std::string(kMiB, 'v')), MakePut("token a", "l", "2")}, budget_);
  ASSERT_TRUE(outcomes.ok());
  EXPECT_TRUE(absl::IsResourceExhausted((*outcomes)[0].status)) << (*outcomes)[0].status;
  EXPECT_TRUE((*outcomes)[1].status.ok());
  EXPECT_EQ(Found("k"), "token a:1");
  budget_.total_bytes = 0;
  EXPECT_TRUE(absl::IsResourceExhausted(Put(MakePut("token a", "m", "3")).status));
  EXPECT_EQ(Found("l"), "token a:2");
}

TEST_F(CacheTest, ALowerBudgetIsMetByTheNextPut) {
  for (const char* key : {"1", "2", "3", "4"}) PutQuarter("token a", key);
  budget_.sender_bytes = kMiB / 2;
  EXPECT_EQ(Put(MakePut("token a", "5", Quarter())).removed, 3u);
  EXPECT_THAT(List(), ElementsAre("token a:5", "token a:4"));
}

TEST_F(CacheTest, OldEntriesAreNeitherReturnedNorKept) {
  Put(MakePut("token a", "k", "1"));
  const int64_t stored_unix_us = Get("k")->stored_unix_us();
  EXPECT_TRUE(Get("k", {}, "", stored_unix_us).ok());
  EXPECT_TRUE(absl::IsNotFound(Get("k", {}, "", stored_unix_us + 1).status()));
  EXPECT_THAT(List({}, stored_unix_us + 1), IsEmpty());
  // A PostgreSQL dataset uses the clock of the machine.
  budget_.max_age = -absl::Hours(1);
  EXPECT_EQ(Put(MakePut("token b", "k", "2")).removed, 1u);
  EXPECT_THAT(List(), ElementsAre("token b:k"));
  ExpectBytesMatch();
}

TEST_F(CacheTest, AListIsFilteredAndPaged) {
  for (int i = 0; i < 150; ++i) Put(MakePut(i % 2 == 0 ? "token a" : "token b", absl::StrCat("k", i), "v"));
  CachePut put = MakePut("token a", "other", "v");
  put.entry.set_namespace_("elsewhere");
  put.entry.set_hardware("H");
  Put(put);
  v1::ListCacheRequest request;
  request.set_page_size(70);
  const std::vector<std::string> all = List(request);
  ASSERT_EQ(all.size(), 151u);
  EXPECT_EQ(all[0], "token a:other");
  EXPECT_EQ(all[1], "token b:k149");
  EXPECT_EQ(all.back(), "token a:k0");
  request.set_namespace_("test");
  request.set_key_prefix("k14");
  request.set_sender("token b");
  EXPECT_THAT(List(request),
              ElementsAre("token b:k149", "token b:k147", "token b:k145", "token b:k143", "token b:k141"));
  request = {};
  request.set_hardware("H");
  EXPECT_THAT(List(request), ElementsAre("token a:other"));
  request = {};
  request.set_page_token("x");
  EXPECT_TRUE(absl::IsInvalidArgument(story_.OpenReader()->ListCacheEntries(request, 0).status()));
}

TEST_F(CacheTest, APageIsLimitedInBytes) {
  budget_ = {.total_bytes = 40 * kMiB, .sender_bytes = 40 * kMiB};
  for (int i = 0; i < 12; ++i) PutQuarter("token a", std::string(1, static_cast<char>('a' + i)));
  v1::ListCacheRequest request;
  EXPECT_EQ(story_.OpenReader()->ListCacheEntries(request, 0)->entries_size(), 12);
  request.set_values(true);
  const auto page = story_.OpenReader()->ListCacheEntries(request, 0);
  EXPECT_EQ(page->entries_size(), 5);
  EXPECT_EQ(page->entries(0).value(), Quarter());
  EXPECT_EQ(List(request).size(), 12u);
}

TEST_F(CacheTest, TheNumberOfSendersIsLimited) {
  std::vector<CachePut> puts;
  for (size_t i = 0; i < CacheTable::kMostSenders; ++i) puts.push_back(MakePut(absl::StrCat("token ", i), "k", ""));
  budget_ = {};
  ASSERT_TRUE(story_.writer().PutCacheEntries(puts, budget_).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Put(MakePut("token one more", "k", "")).status));
  EXPECT_TRUE(Put(MakePut("token 7", "l", "")).status.ok());
}

TEST(CacheTableTest, EntriesThatAnotherProgramRemovedAreNotCharged) {
  absl::StatusOr<sqlite::SqliteDatabase> database = sqlite::SqliteDatabase::Open(":memory:", {.vfs = {}});
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(sqlite::Migrate(*database).ok());
  const CacheBudget budget = {.total_bytes = 2 * kMiB, .sender_bytes = 2 * kMiB};
  CachePut put = {.sender = "token a", .entry = {}};
  put.entry.set_key("1");
  put.entry.set_value(std::string(kMiB, 'v'));
  ASSERT_TRUE(CacheTable(*database).Store({put}, budget, 1)->front().status.ok());
  ASSERT_TRUE(database->Execute("DELETE FROM cache_entries").ok());
  const auto outcomes = CacheTable(*database).Store({put, put}, budget, 2);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_EQ(outcomes->front().removed, 0u);
  EXPECT_EQ(*database->QueryInt("SELECT size_bytes FROM cache_senders"),
            *database->QueryInt("SELECT size_bytes FROM cache_entries"));
}

}  // namespace
}  // namespace telemetry::storage::tables
