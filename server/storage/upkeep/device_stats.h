#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::upkeep {

// A machine with a device, as its attempts name them; a name is empty if it is not known.
struct MeasuringPlace {
  std::string hardware;  // such as "NVIDIA H200"
  std::string host;

  friend auto operator<=>(const MeasuringPlace&, const MeasuringPlace&) = default;
};

// The quality of the measurements of one place. An operator compares a machine with others that have the same device:
// a lower clock or more throttling tells of cooling or power, a larger spread of other programs beside the
// measurements.
class DeviceStats {
 public:
  int64_t attempts = 0;
  int64_t results = 0;    // rows that have details
  int64_t throttled = 0;  // of these, rows with samples that were left out because the device ran below its usual clock

  // Adds the mean clock of some results, in megahertz.
  void AddClock(double mhz, int64_t results);
  // Adds the interquartile range of the samples of a final, relative to their median.
  void AddSpread(double spread);

  // The means; nullopt: not known.
  std::optional<double> ClockMhz() const { return MeanOf(clocks_, clock_results_); }
  std::optional<double> Spread() const { return MeanOf(spreads_, finals_); }

 private:
  static std::optional<double> MeanOf(double sum, int64_t count) {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }

  double clocks_ = 0;
  int64_t clock_results_ = 0;
  double spreads_ = 0;
  int64_t finals_ = 0;
};

using DeviceStatsMap = std::map<MeasuringPlace, DeviceStats>;

// The most places that are told apart; the attempts of further ones are those of a place without names.
inline constexpr size_t kMostMeasuringPlaces = 1000;

// Adds up the measurements of a dataset in any kind of database, page by page. Used by one thread.
class DeviceCounter {
 public:
  // `database` and `places` must outlive this object.
  DeviceCounter(sql::Database& database, DeviceStatsMap* places);

  // Adds the attempts with keys above `last` and up to `end`, a few hundred. Leaves out finals beyond the limits of a
  // page (device_stats.cc).
  absl::Status Add(int64_t last, int64_t end);

 private:
  DeviceStats& StatsOf(const std::string& hardware, const std::string& environment_json);

  DeviceStatsMap& places_;
  sql::Statement attempts_;
  sql::Statement results_;
  sql::Statement finals_;
};

}  // namespace telemetry::storage::upkeep
