#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"
#include "worker/model/cost_model.h"
#include "worker/model/run_features.h"

namespace telemetry::worker::model {

// The size of FirstConfigs' sample and result.
struct FirstConfigsOptions {
  size_t count = 10;     // configs to return
  size_t sample = 2000;  // random configs to rank; a space with at most so many configs is ranked completely
  int climbs = 2;        // rounds that also rank the neighbours of the best configs
  uint64_t seed = 0;
  std::vector<codegen::Config> also = {};  // ranked, too; those that are not in the space are ignored
};

// Returns the configs of a space that the model expects to be fastest, the most promising first, distinct and
// normalised. Of configs that differ in a single parameter only the best one is returned, as long as there are others,
// because their measurements would say much the same. Depends only on the arguments.
std::vector<codegen::Config> FirstConfigs(const codegen::ConfigSpace& space, const RunFeatures& features,
                                          const CostModel& model, const FirstConfigsOptions& options = {});

}  // namespace telemetry::worker::model
