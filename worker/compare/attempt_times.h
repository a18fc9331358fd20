#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/statistics/median.h"

namespace telemetry::worker::compare {

// The times of an attempt that are compared: of its fastest config; of the first config with a result, which tuners
// measure first because it is their default; and of the config that the tuner chose.
enum class TimeKind { kBest, kDefault, kChosen };
inline constexpr std::array<TimeKind, 3> kTimeKinds = {TimeKind::kBest, TimeKind::kDefault, TimeKind::kChosen};

// Returns "best", "default" or "chosen".
std::string_view NameOf(TimeKind kind);

// A measurement of a config.
struct MeasuredTime {
  uint64_t config_id = 0;
  statistics::LogMedian median;        // of the samples in milliseconds, or of the row's single time
  std::optional<double> spread;        // interquartile range of the samples / their median; unset: fewer than 3 samples
  std::optional<double> sm_clock_mhz;  // unset: not known
  uint64_t throttled_samples = 0;      // discarded because of a low clock
};

// The times of an attempt, and the machine that measured them.
struct AttemptTimes {
  std::string host;  // name of the machine; empty: not known
  std::array<std::optional<MeasuredTime>, kTimeKinds.size()> times;

  const std::optional<MeasuredTime>& Of(TimeKind kind) const { return times[static_cast<size_t>(kind)]; }
  std::optional<MeasuredTime>& Of(TimeKind kind) { return times[static_cast<size_t>(kind)]; }
};

}  // namespace telemetry::worker::compare
