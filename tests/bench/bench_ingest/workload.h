#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::bench {

// A workload of rows like those of autotuners: 64 runs, each executed repeatedly in attempts of 250 configs, with a
// "started" row and a result row per config. Each run has its own search space, so that configs recur in later
// attempts. The records do not depend on the number of producers. Deterministic; constant objects may be shared between
// threads.
class Workload {
 public:
  Workload();

  static constexpr int kRuns = 64;
  static constexpr uint64_t kRowsPerAttempt = 500;

  // Returns the number of rows of a run if the whole workload has `rows` rows.
  static uint64_t RowsOfRun(uint64_t rows, int run) {
    return rows / kRuns + (static_cast<uint64_t>(run) < rows % kRuns ? 1 : 0);
  }

  // Writes the records of one attempt of at most `rows` rows to `records`: the run before its first attempt, the
  // attempt, and each config before the first row of this run that refers to it. Reuses the objects in `records` and
  // returns the number of those that are set. `named` is empty at a run's first attempt.
  size_t MakeAttempt(int run, uint64_t attempt, uint64_t rows, std::vector<bool>* named,
                     std::vector<v1::Record>* records) const;

  // The parts, for code that stores them without a collector.
  static v1::Run BuildRun(int run);
  static v1::Attempt BuildAttempt(int run, uint64_t attempt);
  // Sets `row` to row `index` (from 0) of an attempt.
  void FillRow(int run, uint64_t attempt, uint64_t index, v1::Measurement* row) const;
  // Returns the index of the config, among the configs of the run, to which this row refers.
  static size_t ConfigIndex(int run, uint64_t attempt, uint64_t index);
  const std::vector<v1::Config>& configs(int run) const { return configs_[static_cast<size_t>(run)]; }

 private:
  std::vector<std::vector<v1::Config>> configs_;  // by run
};

}  // namespace telemetry::bench
