#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/dataset_client.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/shared_cache.h"

namespace telemetry::worker::tune {

// The sources of configs from earlier attempts. All of them must outlive the calls below.
struct KnownSources {
  const BestConfigCache* cache = nullptr;             // never null in a call
  client::DatasetClient* collector = nullptr;         // null: no collector is queried
  SharedCache* shared = nullptr;                      // of the same collector; null: its cache is not queried
  std::function<void(const std::string&)> on_notice;  // receives the errors of sources; may be empty
};

// Returns the better of the two configs that the cache and the collector have for this run, or NOT_FOUND if they have
// none. If the cache has a config, an error of the collector is only a notice; otherwise it is returned. An error of
// the cache other than NOT_FOUND is returned without a query to the collector.
absl::StatusOr<BestConfig> FindBestConfig(const v1::Run& run, const KnownSources& sources);

// Returns starting points for a search for this run's best config, most promising first, each config once: the known
// configs of this run (of `cache`, `shared`, `collector`); then the newest configs in `cache` for other shapes on this
// hardware; then the collector's configs for other shapes, nearest shapes first. Returns at most 13 configs. An error
// of a source is a notice. If `shared` does not answer, the collector is not queried either.
std::vector<codegen::Config> StartingPointsFor(const v1::Run& run, const KnownSources& sources);

// Returns the distance between the shapes of two runs: the sum of |log2| of the ratios of their sizes; infinity if the
// number of sizes differs.
double ShapeDistance(const std::string& shapes, const std::string& other_shapes);

}  // namespace telemetry::worker::tune
