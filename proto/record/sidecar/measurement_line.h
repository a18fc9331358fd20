#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record::sidecar {

// The lines of a .measurements.jsonl file, which the Python package autotune_telemetry writes for tuners other than
// Helion. client/python/README.md documents the format.

// A line of kind "attempt": the description of an attempt and its run. The run_id is computed from the content.
struct AttemptLine {
  v1::Run run;
  v1::Attempt attempt;  // state: open
};

// A line of kind "measurement".
struct MeasurementLine {
  v1::Config config;
  v1::Measurement measurement;
  std::optional<v1::MeasurementDetail> detail;  // unset: the line has none
};

// A line of kind "end": the attempt is complete or abandoned.
struct EndLine {
  std::string attempt_id;  // 16 bytes
  v1::Attempt::State state = v1::Attempt::STATE_COMPLETE;
  std::string counters_json;  // empty: none
};

// A line of kind "continued": the rest of the attempt is in the next file of the same folder.
struct ContinuedLine {
  std::string attempt_id;  // 16 bytes
};

// A line of kind "event": something that a tuner reports beside measurements.
struct EventLine {
  std::string attempt_id;  // 16 bytes
  uint64_t seq = 0;        // position among the attempt's events, from 1
  std::optional<int64_t> time_unix_us;
  std::string name;
  std::string text;  // the line
};

using MeasurementsLine = std::variant<AttemptLine, MeasurementLine, EventLine, EndLine, ContinuedLine>;

// Returns the record of a config, an object. Its keys are sorted at every depth, so that equal configs have equal
// texts.
absl::StatusOr<v1::Config> ConfigOf(const Json& config);

// Returns the details of a measurement from an object with their keys, such as a line of an export's .details.jsonl.
// The details have no attempt_id and no seq. INVALID_ARGUMENT, with the key, if a value has the wrong type or range.
absl::StatusOr<v1::MeasurementDetail> ParseDetail(const Json& object);

// Parses a line. Unknown keys are ignored. Errors: INVALID_ARGUMENT if the value is not an object, a required key is
// missing or a key has the wrong type or range (the message names the key); FAILED_PRECONDITION if the version or the
// kind is not known, because a newer program wrote it.
absl::StatusOr<MeasurementsLine> ParseMeasurementsLine(const Json& line);

}  // namespace telemetry::record::sidecar
