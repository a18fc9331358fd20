#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/dataset_client.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"
#include "worker/tune/best_configs.h"

namespace telemetry::worker::tune {

// Who knows of earlier attempts. All must outlive the calls below.
struct KnownSources {
  const BestConfigCache* cache = nullptr;
  client::DatasetClient* collector = nullptr;         // null: is not asked
  std::function<void(const std::string&)> on_notice;  // what could not be asked
};

// The better of the two that the sources know of this run. NOT_FOUND: they know none. Where the cache knows one, an
// error of the collector is only a notice; else it is the result.
absl::StatusOr<BestConfig> FindBestConfig(const v1::Run& run, const KnownSources& sources);

// What a search for this run's best config may begin with, the most promising first, each config once: what is known
// of this run, the cache's newest of other shapes on this hardware, then the collector's, the nearest shapes first. At
// most 12. A source that fails is a notice.
std::vector<codegen::Config> StartingPointsFor(const v1::Run& run, const KnownSources& sources);

// How far apart two runs' shapes are: the sum of the doublings between their sizes. Infinite: of another rank or
// number.
double ShapeDistance(const std::string& shapes, const std::string& other_shapes);

}  // namespace telemetry::worker::tune
