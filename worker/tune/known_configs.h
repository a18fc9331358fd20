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

// The results of earlier attempts, each config once.
struct KnownConfigs {
  // The configs of finals of this run: the best ones (of `cache`, `shared`, `collector`), then the runners-up. Empty:
  // no complete attempt at this run is known. At most 19.
  std::vector<codegen::Config> of_run;
  // Starting points for a search, most promising first: those, other configs of this run, the newest configs in `cache`
  // for other shapes on this hardware, and the collector's configs for other shapes, nearest shapes first.
  std::vector<codegen::Config> starting_points;
};

// Queries the sources. An error of a source is a notice. If `shared` does not answer, the collector is not queried
// either.
KnownConfigs FindKnownConfigs(const v1::Run& run, const KnownSources& sources);

}  // namespace telemetry::worker::tune
