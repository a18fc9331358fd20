#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::tune::recording {

// A row of an attempt: the start or the result of one config in one generation. The tuner fills it in, the journal
// saves it, and AttemptRecorder converts it to records and sidecars.
struct AttemptRow {
  double timestamp_s = 0;  // since the start of the attempt; not less than the last row's
  int64_t generation = 0;
  codegen::Config config;
  std::string status;             // statuses.h
  std::optional<double> perf_ms;  // recorded only if it is finite
  std::optional<double> compile_time_s;
  std::optional<v1::Failure> failure;
  std::string source_hash;                      // SHA-256 of the generated source in lower-case hex; empty: none
  std::optional<v1::MeasurementDetail> detail;  // attempt_id and seq are filled in; non-finite values are omitted
};

// Returns true if the row belongs to the final. All other rows belong to the search, which never proposes a config
// twice.
inline bool IsOfFinal(const AttemptRow& row) {
  return row.detail && row.detail->stage() == v1::MeasurementDetail::STAGE_FINAL;
}

}  // namespace telemetry::worker::tune::recording
