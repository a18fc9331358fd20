#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "proto/record/json.h"
#include "telemetry/v1/dataset.pb.h"
#include "worker/compare/attempt_times.h"

namespace telemetry::worker::compare {

// Finds the times of one attempt in the items of its export, which must contain details and events. Of several rows of
// a config, a final measurement is preferred, then the smaller time. Rows that were stopped early have no time.
//
// The chosen config is the one that the counters of the attempt or its last event `selected` name; else the fastest
// final measurement, if there is one. An attempt that is running or was abandoned has neither a best nor a chosen
// config, because its search is incomplete.
class AttemptReader {
 public:
  explicit AttemptReader(const v1::Attempt& attempt);

  void Add(const v1::ExportRows& rows);
  void Add(const v1::ExportEvents& events);
  AttemptTimes Finish() const;

 private:
  // The preferred row of a config.
  struct Row {
    bool is_final = false;
    double perf_ms = 0;
    MeasuredTime time;

    bool IsBetterThan(const Row& other) const {
      return is_final != other.is_final ? is_final : perf_ms < other.perf_ms;
    }
  };

  const Row* Best() const;

  std::string host_;
  bool is_complete_ = true;
  std::map<uint64_t, Row> configs_;
  uint64_t first_config_ = 0;   // 0: none has a result
  uint64_t chosen_config_ = 0;  // 0: not named
};

}  // namespace telemetry::worker::compare
