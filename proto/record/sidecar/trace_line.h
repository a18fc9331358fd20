#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::record::sidecar {

// The lines of Helion's .trace.jsonl (FORMATS.md): the events of a search, one JSON object each. A line is stored as it
// is; these are the members that its interpretation needs.

// Limit of the length of a line. A longer one does not fit into a record together with its other fields.
inline constexpr size_t kMostTraceLineBytes = size_t{4} << 20;

// First position of the rows of an attempt that are in its trace and not in its CSV (records.proto, Measurement.seq).
inline constexpr uint64_t kFirstTraceSeq = uint64_t{1} << 48;

// The outcome of a config in an event of the kinds "trial_start", "trial" and "rebenchmark".
struct TraceTrial {
  uint64_t config_id = 0;
  int64_t generation = 0;
  std::string status;
  std::optional<double> perf_ms;         // with all digits
  std::optional<double> compile_time_s;  // with all digits
};

// A parsed line.
struct TraceLine {
  std::string run_id;  // id of the invocation, unrelated to the run_id of a row
  std::string event;
  std::string algorithm;              // empty: not given
  std::optional<double> timestamp_s;  // seconds since the Unix epoch
  std::optional<double> elapsed_s;    // seconds since the trace began
  // Only in a line with schema_version 1 whose members have the expected types.
  std::optional<TraceTrial> trial;
  std::string end_status;      // of a "run_end"; empty: not given
  std::optional<Json> config;  // of a "rebenchmark" with a trial: an object from which its config_id is computed
};

// Parses a line without its line end. Members of unknown kinds of events are not interpreted. Returns INVALID_ARGUMENT
// for a text that is longer than kMostTraceLineBytes, is not a JSON object, or has no run_id or event of at least one
// and at most 256 bytes. An escaped half of a surrogate pair, which Python may write, is not an error.
absl::StatusOr<TraceLine> ParseTraceLine(std::string_view text);

}  // namespace telemetry::record::sidecar
