#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::worker::snapshot {

// Reads the snapshot BASE that `telemetry-export --layout keyed` wrote without compression: BASE.csv, BASE.runs.jsonl,
// BASE.attempts.jsonl and, if it exists, BASE.details.jsonl. Calls `take` with the same items as DatasetService.Export
// sends, except totals, graphs, RunConfigs and events: of each run, `run` with all but its summary, then for each of
// its attempts `attempt`, `configs` with those that no earlier row has, and `rows`. Rows have no source hashes.
//
// Errors: NOT_FOUND if a file is missing, FAILED_PRECONDITION, with file and line, if a line cannot be read or if the
// files are not from one export, or the error of `take`.
absl::Status ReadSnapshot(const std::string& base, const std::function<absl::Status(const v1::ExportItem&)>& take);

}  // namespace telemetry::worker::snapshot
