// Checks that a collector under sustained load neither grows in memory with the records that it has stored nor slows
// down.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/environment.h"
#include "tests/faults/soak_load.h"
#include "tests/faults/soak_report.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::faults {
namespace {

constexpr double kShare = 0.95;
// A paced collector is busy for about a fiftieth of the time, and its CPU time depends on the other processes on its
// core. A run of minutes can therefore only detect slowdowns that grow with the dataset. In a run of half an hour or
// more the noise averages out.
constexpr double kCpuShareOfMinutes = 0.75;
constexpr double kLongSeconds = 1800;
constexpr uint64_t kWarmRecords = 2000000;
// The noise of the heap, in a run that is too short to distinguish it from a slope.
constexpr double kNoiseBytes = 4 << 20;
constexpr double kMostBytesAMillionRecords = 256 << 10;

class Soak : public ::testing::Test {
 protected:
  SoakSample Sample() const {
    return {.seconds = absl::ToDoubleSeconds(absl::Now() - begin_),
            .records = load_.committed(),
            .cpu_seconds = bench::CpuSeconds(collector_.pid()),
            .rss_bytes = bench::ResidentMib(collector_.pid()) * (1 << 20),
            .yardstick_seconds = MeasureYardstick()};
  }

  // Waits until the collector's caches are full. After that, its memory has no reason to grow.
  void WarmUp() {
    while (load_.committed() < kWarmRecords) absl::SleepFor(absl::Milliseconds(100));
    std::fprintf(stderr, "warm after %.1f s\n", absl::ToDoubleSeconds(absl::Now() - begin_));
    load_.SetPace(records_per_s_);
  }

  // Continues the load for `duration` and appends the samples taken.
  void Run(absl::Duration duration, std::vector<SoakSample>* samples) const {
    constexpr int kSamples = 60;
    const absl::Time begin = absl::Now();
    for (int i = 1; i <= kSamples; ++i) {
      absl::SleepFor(begin + duration * i / kSamples - absl::Now());
      samples->push_back(Sample());
      std::fprintf(stderr, "%7.1f s %10llu records %8.2f CPU s %7.1f MiB\n", samples->back().seconds,
                   static_cast<unsigned long long>(samples->back().records), samples->back().cpu_seconds,
                   samples->back().rss_bytes / (1 << 20));
    }
  }

  const double records_per_s_ = static_cast<double>(NumberFromEnvironment("TELEMETRY_SOAK_RECORDS_PER_S", 5000));
  TempFolder folder_;
  const std::string db_ = folder_.File("dataset.db");
  bench::CollectorProcess collector_ = bench::CollectorProcess::Start(db_);
  const absl::Time begin_ = absl::Now();
  SoakLoad load_{{.collector = collector_.address(), .folder = folder_.File("spools-of")}};
};

bool KeepsItsPace(const SoakReport& report, double seconds) {
  const double cpu_share = seconds < kLongSeconds ? kCpuShareOfMinutes : kShare;
  return report.records_per_s_end >= kShare * report.records_per_s_begin &&
         report.records_per_yardstick_end >= cpu_share * report.records_per_yardstick_begin;
}

bool KeepsItsMemory(const SoakReport& report) {
  return report.growth_bytes < kNoiseBytes || report.slope_bytes_per_million_records < kMostBytesAMillionRecords;
}

TEST_F(Soak, NeitherGrowsNorSlowsDown) {
  const auto seconds = static_cast<double>(NumberFromEnvironment("TELEMETRY_SOAK_SECONDS", 120));
  const absl::Duration duration = absl::Seconds(seconds);
  WarmUp();
  std::vector<SoakSample> samples;
  Run(duration, &samples);
  SoakReport report = Judge(samples);
  std::fputs(ToText(report).c_str(), stderr);
  if (!KeepsItsPace(report, seconds) || !KeepsItsMemory(report)) {
    // Load by other processes ends after a while; a leak or a collector that gets slower does not.
    std::fputs("once more\n", stderr);
    Run(duration, &samples);
    report = Judge({samples.begin() + static_cast<int64_t>(samples.size() / 2), samples.end()});
    std::fputs(ToText(report).c_str(), stderr);
  }
  EXPECT_TRUE(KeepsItsMemory(report)) << ToText(report);
  EXPECT_TRUE(KeepsItsPace(report, seconds)) << ToText(report);
  EXPECT_EQ(load_.refused(), 0u);
  EXPECT_EQ(load_.failed_reads(), 0u);
  EXPECT_GT(load_.reads(), 0u);
  std::fprintf(stderr, "database: %llu bytes, write-ahead log: %llu\n",
               static_cast<unsigned long long>(std::filesystem::file_size(db_)),
               static_cast<unsigned long long>(std::filesystem::file_size(db_ + "-wal")));
}

// Returns 60 samples of a collector that stores 1000 records per second. In the second half, records cost `slower`
// times the CPU time and the intervals are `later` times as long.
std::vector<SoakSample> Samples(double bytes_a_record, double slower, double later = 1) {
  std::vector<SoakSample> samples;
  double cpu_seconds = 0;
  double seconds = 0;
  for (int i = 0; i < 60; ++i) {
    cpu_seconds += i < 30 ? 0.1 : 0.1 * slower;
    seconds += i < 30 ? 1000 : 1000 * later;
    const auto records = static_cast<uint64_t>(i) * 1000000;
    samples.push_back({.seconds = seconds,
                       .records = records,
                       .cpu_seconds = cpu_seconds,
                       .rss_bytes = 5e7 + bytes_a_record * static_cast<double>(records),
                       .yardstick_seconds = 0.01});
  }
  return samples;
}

TEST(SoakReport, FindsALeak) {
  EXPECT_TRUE(KeepsItsMemory(Judge(Samples(0, 1))));
  EXPECT_FALSE(KeepsItsMemory(Judge(Samples(1, 1))));
  EXPECT_NEAR(Judge(Samples(2, 1)).slope_bytes_per_million_records, 2e6, 1);
}

TEST(SoakReport, FindsACollectorThatGetsSlower) {
  EXPECT_TRUE(KeepsItsPace(Judge(Samples(0, 1)), kLongSeconds));
  EXPECT_TRUE(KeepsItsPace(Judge(Samples(0, 1.04)), kLongSeconds));
  EXPECT_FALSE(KeepsItsPace(Judge(Samples(0, 1.06)), kLongSeconds));
  EXPECT_TRUE(KeepsItsPace(Judge(Samples(0, 1.3)), 120));
  EXPECT_FALSE(KeepsItsPace(Judge(Samples(0, 1.4)), 120));
  EXPECT_FALSE(KeepsItsPace(Judge(Samples(0, 1, 1.06)), 120));
}

}  // namespace
}  // namespace telemetry::faults
