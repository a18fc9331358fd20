#include "worker/tune/measure/sample_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace telemetry::worker::tune::measure {
namespace {

TEST(SampleStatisticsTest, MedianIsTheMiddle) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median({7}), 7);
  EXPECT_TRUE(std::isnan(Median({})));
}

TEST(SampleStatisticsTest, OneDisturbedSampleChangesNothing) {
  EXPECT_EQ(Median({1, 1, 1, 1, 100}), 1);
  EXPECT_EQ(MedianDeviation({1, 1, 1, 1, 100}), 0);
  EXPECT_EQ(RelativeErrorOfMedian({1, 1, 1, 1, 100}), 0);
}

TEST(SampleStatisticsTest, MoreSamplesKnowTheMedianBetter) {
  std::minstd_rand random(1);
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(10 + static_cast<double>(random() % 1000) / 1000);
  const double of_ten = RelativeErrorOfMedian(samples);
  for (int i = 0; i < 990; ++i) samples.push_back(10 + static_cast<double>(random() % 1000) / 1000);
  EXPECT_LT(RelativeErrorOfMedian(samples), of_ten / 3);
  EXPECT_TRUE(std::isinf(RelativeErrorOfMedian({1, 1})));
}

TEST(SampleStatisticsTest, WhatDriftsTogetherIsToldApart) {
  // The times of both rise together by a fifth, as at a falling clock. One config is always slower by three percent.
  std::vector<double> best;
  std::vector<double> other;
  for (int i = 0; i < 50; ++i) {
    best.push_back(1 + 0.004 * i);
    other.push_back(best.back() * 1.03);
  }
  EXPECT_FALSE(TiedWithBest(best, other));
}

TEST(SampleStatisticsTest, DifferencesWithinTheNoiseAreTies) {
  std::minstd_rand random(2);
  std::vector<double> best;
  std::vector<double> other;
  for (int i = 0; i < 20; ++i) {
    best.push_back(1 + 0.1 * static_cast<double>(random() % 100) / 100);
    other.push_back(1.002 + 0.1 * static_cast<double>(random() % 100) / 100);
  }
  EXPECT_TRUE(TiedWithBest(best, other));
}

TEST(SampleStatisticsTest, DifferencesThatNobodyNoticesAreTies) {
  EXPECT_TRUE(TiedWithBest(std::vector<double>(50, 1.0), std::vector<double>(50, 1.004)));
  EXPECT_FALSE(TiedWithBest(std::vector<double>(50, 1.0), std::vector<double>(50, 1.006)));
  EXPECT_TRUE(TiedWithBest(std::vector<double>(50, 1.0), std::vector<double>(50, 1.0)));
  EXPECT_FALSE(TiedWithBest({1.0}, {}));
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
