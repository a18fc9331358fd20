// Tests leases of clients at a collector that runs as a program.

#include "client/lease.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cache_client.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/temp_folder.h"

namespace telemetry::client {
namespace {

class LeaseTest : public testing::Test {
 protected:
  client::CacheClientOptions Options() const {
    return {.collector = collector_.address(), .deadline = absl::Seconds(30)};
  }
  // Waits until the lease is taken.
  static void Take(Lease& lease) {
    while (true) {
      const absl::StatusOr<absl::Duration> left = lease.TryTake();
      ASSERT_TRUE(left.ok()) << left.status();
      if (*left == absl::ZeroDuration()) return;
      absl::SleepFor(*left);
    }
  }
  // Makes an unknown program the holder; it does not renew.
  void PutHolder(const std::string& holder) {
    v1::CacheEntry entry;
    entry.set_namespace_(Lease::kNamespace);
    entry.set_key(kName);
    entry.set_value(holder);
    v1::PutCacheRequest request;
    *request.mutable_entry() = entry;
    request.mutable_condition()->set_max_age_us(1);  // as "anyone", in place of any entry
    while (true) {
      const absl::StatusOr<v1::PutCacheResponse> response = cache_.Put(request);
      ASSERT_TRUE(response.ok()) << response.status();
      if (!response->has_kept()) return;
    }
  }
  v1::CacheEntry Stored() {
    v1::GetCacheRequest request;
    request.set_namespace_(Lease::kNamespace);
    request.set_key(kName);
    const absl::StatusOr<v1::CacheEntry> entry = cache_.Get(request);
    EXPECT_TRUE(entry.ok()) << entry.status();
    return entry.value_or(v1::CacheEntry());
  }

  static constexpr char kName[] = "run 1";

  TempFolder folder_;
  bench::CollectorProcess collector_ = bench::CollectorProcess::Start(folder_.path() + "/dataset.db");
  CacheClient cache_{Options()};
};

TEST_F(LeaseTest, OneAtATimeHoldsIt) {
  Lease first(cache_, kName);
  Take(first);
  Lease second(cache_, kName);
  const absl::StatusOr<absl::Duration> left = second.TryTake();
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_GT(*left, absl::ZeroDuration());
  EXPECT_LE(*left, Lease::kDuration);
  first.Release();
  Take(second);
}

TEST_F(LeaseTest, AnotherTakesOverFromOneThatDied) {
  PutHolder("dead");
  Lease lease(cache_, kName, absl::Milliseconds(200));
  Take(lease);
  EXPECT_NE(Stored().value(), "dead");
}

TEST_F(LeaseTest, ItsHolderRenewsIt) {
  Lease lease(cache_, kName, absl::Seconds(1));
  Take(lease);
  const v1::CacheEntry taken = Stored();
  v1::CacheEntry renewed = taken;
  while (renewed.stored_unix_us() == taken.stored_unix_us()) renewed = Stored();
  EXPECT_EQ(renewed.value(), taken.value());
}

TEST_F(LeaseTest, AHolderThatLostItDoesNotFreeIt) {
  Lease lease(cache_, kName);
  Take(lease);
  PutHolder("another");
  lease.Release();
  EXPECT_EQ(Stored().value(), "another");
}

TEST_F(LeaseTest, ItsHolderRenewsItWhenTheCollectorIsBack) {
  Lease lease(cache_, kName, absl::Seconds(1));
  Take(lease);
  const int port = collector_.port();
  collector_.Stop();
  // The cache counts as absent after this call; the lease uses the same client.
  v1::GetCacheRequest request;
  request.set_namespace_(Lease::kNamespace);
  request.set_key(kName);
  EXPECT_TRUE(absl::IsUnavailable(cache_.Get(request).status()));
  collector_ = bench::CollectorProcess::Start(folder_.path() + "/dataset.db", port);
  CacheClient other(Options());
  const auto stored_at = [&] { return other.Get(request).value_or(v1::CacheEntry()).stored_unix_us(); };
  const int64_t before = stored_at();
  while (stored_at() == before) continue;
}

TEST_F(LeaseTest, ACollectorThatIsAwayIsAnError) {
  collector_.Stop();
  Lease lease(cache_, kName);
  EXPECT_TRUE(absl::IsUnavailable(lease.TryTake().status()));
}

}  // namespace
}  // namespace telemetry::client
