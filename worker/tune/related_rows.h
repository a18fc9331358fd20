#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/dataset_client.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::tune {

// Returns stored results of runs of the same kernel with any shapes, dtypes, source and device, the most related ones
// first: at most search::kMostRelatedRuns runs with search::kMostRelatedTrials results each. Earlier attempts at the
// run itself are among them. Reads at most kMostRelatedRows rows of a run, for at most about ten seconds in all. An
// error of the collector is a notice, and the runs that were read before it are returned. `on_notice` may be empty.
std::vector<search::RelatedRun> FindRelatedRuns(const v1::Run& run, client::DatasetClient& collector,
                                                const std::function<void(const std::string&)>& on_notice);

inline constexpr size_t kMostRelatedRows = 5000;

}  // namespace telemetry::worker::tune
