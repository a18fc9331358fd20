#pragma once

#include "absl/status/status.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// Returns the NOT_FOUND error of an export whose filter selects no row. The message names a value that does not exist
// and the values that do. If all values exist, or if `values` is empty because the collector is older, the message
// names the flags of the filter.
absl::Status NothingSelected(const v1::Filter& filter, const v1::FilterValues& values);

}  // namespace telemetry::exporter
