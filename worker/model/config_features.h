#pragma once

#include "worker/codegen/config.h"
#include "worker/model/feature_row.h"

namespace telemetry::worker::model {

// Adds the features of a config alone: the values of Helion's keys, those of the usual parameters of Kernel Tuner's
// specifications, and the first values of other keys in the order of their names. The meaning of the latter depends on
// the kernel. A key that the config does not have is not known. The features are the same for every config.
void AddConfigFeatures(const codegen::Config& config, FeatureRow* row);

}  // namespace telemetry::worker::model
