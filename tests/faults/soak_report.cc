#include "tests/faults/soak_report.h"

#include <time.h>

#include <algorithm>

#include "absl/strings/str_format.h"

namespace telemetry::faults {
namespace {

double ThreadCpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Returns the median of the records per time over the intervals between the samples from `begin` up to `end`. `rate`
// returns the length of an interval.
template <typename Rate>
double MedianRate(const std::vector<SoakSample>& samples, size_t begin, size_t end, Rate rate) {
  std::vector<double> rates;
  for (size_t i = begin + 1; i < end; ++i) {
    const auto records = static_cast<double>(samples[i].records - samples[i - 1].records);
    if (const double time = rate(samples[i - 1], samples[i]); time > 0) rates.push_back(records / time);
  }
  return Median(rates);
}

double Seconds(const SoakSample& a, const SoakSample& b) { return b.seconds - a.seconds; }
double CpuSeconds(const SoakSample& a, const SoakSample& b) { return b.cpu_seconds - a.cpu_seconds; }
double Yardsticks(const SoakSample& a, const SoakSample& b) {
  return 2 * CpuSeconds(a, b) / (a.yardstick_seconds + b.yardstick_seconds);
}

// Returns the slope of memory over records by least squares, in bytes per record.
double Slope(const std::vector<SoakSample>& samples, size_t begin) {
  const auto count = static_cast<double>(samples.size() - begin);
  double x_mean = 0;
  double y_mean = 0;
  for (size_t i = begin; i < samples.size(); ++i) {
    x_mean += static_cast<double>(samples[i].records) / count;
    y_mean += samples[i].rss_bytes / count;
  }
  double products = 0;
  double squares = 0;
  for (size_t i = begin; i < samples.size(); ++i) {
    const double x = static_cast<double>(samples[i].records) - x_mean;
    products += x * (samples[i].rss_bytes - y_mean);
    squares += x * x;
  }
  return squares == 0 ? 0 : products / squares;
}

}  // namespace

double MeasureYardstick() {
  std::vector<uint64_t> numbers(200000);
  uint64_t state = 1;
  for (uint64_t& number : numbers) number = state = state * 6364136223846793005 + 1442695040888963407;
  const double begin = ThreadCpuSeconds();
  std::sort(numbers.begin(), numbers.end());
  return ThreadCpuSeconds() - begin;
}

SoakReport Judge(const std::vector<SoakSample>& samples) {
  const size_t fifth = samples.size() / 5;
  const size_t half = samples.size() / 2;
  const auto begin = [&](auto time) { return MedianRate(samples, fifth, 2 * fifth + 1, time); };
  const auto end = [&](auto time) { return MedianRate(samples, samples.size() - fifth - 1, samples.size(), time); };
  const double slope = Slope(samples, half);
  return {.slope_bytes_per_million_records = 1e6 * slope,
          .growth_bytes = slope * static_cast<double>(samples.back().records - samples[half].records),
          .records_per_s_begin = begin(Seconds),
          .records_per_s_end = end(Seconds),
          .records_per_cpu_s_begin = begin(CpuSeconds),
          .records_per_cpu_s_end = end(CpuSeconds),
          .records_per_yardstick_begin = begin(Yardsticks),
          .records_per_yardstick_end = end(Yardsticks)};
}

std::string ToText(const SoakReport& report) {
  const auto line = [](const char* what, double begin, double end) {
    return absl::StrFormat("%-28s %10.0f at the start, %10.0f at the end, %.3f\n", what, begin, end, end / begin);
  };
  return absl::StrFormat("memory, second half: %.0f bytes a million records, %.0f bytes in all\n",
                         report.slope_bytes_per_million_records, report.growth_bytes) +
         line("records/s", report.records_per_s_begin, report.records_per_s_end) +
         line("records/CPU s", report.records_per_cpu_s_begin, report.records_per_cpu_s_end) +
         line("records/yardstick of CPU", report.records_per_yardstick_begin, report.records_per_yardstick_end);
}

}  // namespace telemetry::faults
