#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "telemetry/v1/dataset.pb.h"
#include "worker/replay/stored_run.h"

namespace telemetry::worker::replay {

// Collects the results of each config of each run from the items of an export that includes configs and details. The
// rows of all attempts of a run count, also if they do not come together.
//
// The time of a config is the median of its complete measurements in searches. Only a config without those has the
// median of its measurements in finals and rebenchmarks, or else of those that were stopped early. Its cost is the
// median of compile time plus measuring time: from its row with the status "started" to its result, or the sum of the
// samples if there is no such row. The default config is the first one that the earliest attempt measured.
class RunCollector {
 public:
  void Take(const v1::ExportItem& item);
  // Returns the runs in the order of their first items. Runs without any result are omitted.
  std::vector<StoredRun> Finish();

 private:
  static constexpr size_t kRanks = 3;
  struct Results {
    std::array<std::vector<double>, kRanks> times_ms;  // by rank of the measurement, the preferred one first
    std::vector<double> costs_s;
    bool failed = false;
  };

  struct Collected {
    StoredRun run;
    std::map<uint64_t, Results> results;  // by config id; empty results: no row of the config is a result
    uint64_t default_id = 0;              // 0: not known yet
    int64_t default_started_us = 0;       // start of the attempt that default_id is from
  };

  void Add(const v1::ExportRows& rows);
  void AddResult(const v1::Measurement& row, const v1::MeasurementDetail* detail);
  // Moves the configs with results into the run.
  void AddConfigs(Collected& collected) const;

  std::unordered_map<uint64_t, std::string> texts_;  // of the configs so far
  std::deque<Collected> runs_;
  std::unordered_map<std::string, Collected*> by_run_id_;
  Collected* current_ = nullptr;  // nullptr: no run has come

  // The current attempt.
  int64_t started_us_ = 0;
  bool has_result_ = false;
  std::unordered_map<uint64_t, double> started_s_;  // by config id: time of its last "started" row
};

}  // namespace telemetry::worker::replay
