#include "server/ingest/producer_rates.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace telemetry::collector {
namespace {

using std::chrono::seconds;

const SteadyTime kBegin{seconds(1000)};

TEST(ProducerRates, ASecondsWorthIsFreeAndThenItIsWaitedFor) {
  ingest::ProducerRates rates(1000);
  EXPECT_EQ(rates.Take("p", 1000, kBegin), absl::ZeroDuration());
  EXPECT_EQ(rates.Take("p", 500, kBegin), absl::Milliseconds(500));
  EXPECT_EQ(rates.Take("p", 0, kBegin + std::chrono::milliseconds(400)), absl::Milliseconds(100));
  EXPECT_EQ(rates.Take("p", 500, kBegin + seconds(1)), absl::ZeroDuration());
  EXPECT_EQ(rates.delays(), 2u);
}

TEST(ProducerRates, WhatIsNotUsedIsKeptForASecondOnly) {
  ingest::ProducerRates rates(1000);
  rates.Take("p", 0, kBegin);
  EXPECT_EQ(rates.Take("p", 1500, kBegin + seconds(100)), absl::Milliseconds(500));
}

TEST(ProducerRates, EachProducerHasItsOwn) {
  ingest::ProducerRates rates(1000);
  EXPECT_GT(rates.Take("p", 5000, kBegin), absl::ZeroDuration());
  EXPECT_EQ(rates.Take("q", 1000, kBegin), absl::ZeroDuration());
}

TEST(ProducerRates, WhoIsSilentIsForgotten) {
  ingest::ProducerRates rates(1000);
  rates.Take("fast", 5000, kBegin);
  for (int i = 0; i < 5000; ++i) rates.Take(absl::StrCat(i), 10, kBegin + std::chrono::milliseconds(i / 2));
  EXPECT_LT(rates.size(), 4000u);
  EXPECT_GT(rates.Take("fast", 0, kBegin + seconds(3)), absl::ZeroDuration()) << "a debt is not forgotten";
}

}  // namespace
}  // namespace telemetry::collector
