#pragma once

#include "absl/status/status.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Returns the NOT_FOUND of an export whose filter selects no row. The message names a value that does not exist and the
// values that do; where all exist, or `values` is empty since the collector is older, the flags of the filter.
absl::Status NothingSelected(const v1::Filter& filter, const v1::FilterValues& values);

}  // namespace telemetry::exporter
