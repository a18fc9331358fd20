#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::bench {

// Rows as an autotuner makes them: attempts of 250 configs, each with a "started" row and its result, over a search
// space in which configs come up again from attempt to attempt. Deterministic; constant objects are safe to share.
class Workload {
 public:
  static constexpr uint64_t kRowsPerAttempt = 500;

  Workload();

  // All records of a producer's attempt: the run with the first, the attempt, the configs that this producer has not
  // named before, at most `rows` rows. Reuses the objects in `records`; returns how many of them are set.
  size_t MakeAttempt(int producer, uint64_t attempt, uint64_t rows, std::vector<bool>* named,
                     std::vector<v1::Record>* records) const;

  // The pieces, for whoever stores them without a collector.
  v1::Run RunOf(int producer) const;
  v1::Attempt AttemptOf(int producer, uint64_t attempt) const;
  // Row `index` (from 0) of an attempt.
  void FillRow(int producer, uint64_t attempt, uint64_t index, v1::Measurement* row) const;
  size_t ConfigOf(int producer, uint64_t attempt, uint64_t index) const;
  const std::vector<v1::Config>& configs() const { return configs_; }

 private:
  std::vector<v1::Config> configs_;
};

}  // namespace telemetry::bench
