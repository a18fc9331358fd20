#pragma once

#include <string>

#include "absl/status/status.h"
#include "tests/bench/bench_web/run_records.h"

namespace telemetry::bench {

// Creates a dataset in the file or in the empty database `db`: runs of 45 days up to now, rejects, producers and
// entries of the cache. Every call creates the same rows, apart from times. ALREADY_EXISTS: there is a file or a
// dataset.
absl::Status CreateWebDataset(const std::string& db, const DatasetSize& size);

}  // namespace telemetry::bench
