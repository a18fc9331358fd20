#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::faults {

// A sample of a collector's state under load.
struct SoakSample {
  double seconds = 0;  // since the start
  uint64_t records = 0;
  double cpu_seconds = 0;
  double rss_bytes = 0;
  // The CPU seconds that a fixed computation needs at this time. Other work on the machine slows down both the
  // computation and the collector.
  double yardstick_seconds = 0;
};

// Sorts a fixed sequence of numbers and returns the CPU seconds used.
double MeasureYardstick();

// The trends of a collector's memory and speed over a series of samples.
struct SoakReport {
  // The growth of resident memory in the second half of the samples: the slope over the stored records by least
  // squares, and that slope times the records stored in the second half.
  double slope_bytes_per_million_records = 0;
  double growth_bytes = 0;
  // The median rates over the intervals of the second fifth of the samples ("begin") and of the last fifth ("end").
  double records_per_s_begin = 0;
  double records_per_s_end = 0;
  double records_per_cpu_s_begin = 0;
  double records_per_cpu_s_end = 0;
  // The same per CPU time, with yardstick_seconds as the unit of time.
  double records_per_yardstick_begin = 0;
  double records_per_yardstick_end = 0;
};

// Computes the report from at least ten samples in chronological order. Ignores the first fifth, in which caches fill.
SoakReport Judge(const std::vector<SoakSample>& samples);

std::string ToText(const SoakReport& report);

}  // namespace telemetry::faults
