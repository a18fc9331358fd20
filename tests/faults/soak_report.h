#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::faults {

// The state of a collector under load at one moment.
struct SoakSample {
  double seconds = 0;  // since the start
  uint64_t records = 0;
  double cpu_seconds = 0;
  double rss_bytes = 0;
  // CPU seconds of a fixed piece of work at this moment: other load on the machine slows it down as much as the
  // collector.
  double yardstick_seconds = 0;
};

// Sorts the same numbers in each call and returns the CPU seconds that this took.
double MeasureYardstick();

// The trends of a run under load.
struct SoakReport {
  // In the second half of the run: the slope of the memory over the stored records, by least squares, and the growth.
  double slope_bytes_per_million_records = 0;
  double growth_bytes = 0;
  // Medians of the intervals in the second fifth (begin) and in the last fifth (end).
  double records_per_s_begin = 0;
  double records_per_s_end = 0;
  double records_per_cpu_s_begin = 0;
  double records_per_cpu_s_end = 0;
  // The same per CPU time, with yardstick_seconds as the unit of time.
  double records_per_yardstick_begin = 0;
  double records_per_yardstick_end = 0;
};

// Returns the report on at least ten samples, in order. Ignores the first fifth, in which caches fill.
SoakReport Judge(const std::vector<SoakSample>& samples);

std::string ToText(const SoakReport& report);

}  // namespace telemetry::faults
