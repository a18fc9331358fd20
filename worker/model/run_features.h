#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"
#include "worker/device/device.h"
#include "worker/model/graph_features.h"

namespace telemetry::worker::model {

// The version of the features: a model is used only with the version that it was trained with. It changes with every
// change of a name, of the order or of the meaning of a feature.
inline constexpr int kFeatureVersion = 1;

// Returns the names of the features, in the order of RunFeatures::Of.
const std::vector<std::string>& FeatureNames();

// Computes the features of configs of one run. Training and tuning use the same function: both know the run, the
// recorded properties of its device and, for kernels of the library, the code that each config generates. Immutable;
// threads may share it.
class RunFeatures {
 public:
  // `device` is unset if it is not known. `recorded` are the counts of the recorded graph; they are used only for
  // kernels that are not in the library.
  RunFeatures(const v1::Run& run, const std::optional<device::DeviceProperties>& device,
              const std::optional<GraphCounts>& recorded = std::nullopt);
  ~RunFeatures();
  RunFeatures(RunFeatures&&) noexcept;

  // Returns FeatureNames().size() values; NaN: not known. A config whose code cannot be generated has no features of
  // its launch.
  std::vector<float> Of(const codegen::Config& config) const;

 private:
  class Library;

  std::vector<float> fixed_;                // the features that all configs of the run share
  std::unique_ptr<const Library> library_;  // null: not a kernel of the library
};

}  // namespace telemetry::worker::model
