#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::faults {

// What is known of a collector under load at one moment.
struct SoakSample {
  double seconds = 0;  // since the begin
  uint64_t records = 0;
  double cpu_seconds = 0;
  double rss_bytes = 0;
  // CPU seconds that a fixed piece of work takes now: others on this machine slow everything down alike.
  double yardstick_seconds = 0;
};

// Sorts the same numbers each time; the CPU seconds that it took.
double MeasureYardstick();

struct SoakReport {
  // Of the second half: how the memory goes with what was stored, by least squares, and over the half itself.
  double slope_bytes_per_million_records = 0;
  double growth_bytes = 0;
  // Of the second fifth and the last fifth: the medians of the intervals.
  double records_per_s_begin = 0;
  double records_per_s_end = 0;
  double records_per_cpu_s_begin = 0;
  double records_per_cpu_s_end = 0;
  // The same, with the yardstick as the unit of time.
  double records_per_yardstick_begin = 0;
  double records_per_yardstick_end = 0;
};

// Of at least ten samples, in order. The first fifth is left out: caches fill.
SoakReport Judge(const std::vector<SoakSample>& samples);

std::string ToText(const SoakReport& report);

}  // namespace telemetry::faults
