#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/cli/flags.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"
#include "worker/device/device.h"
#include "worker/model/cost_model.h"
#include "worker/model_source.h"
#include "worker/tune/search/predicted_times.h"

namespace telemetry::worker {

// Adds --model, the file of a cost model; with `of_collector` also a collector's model (ModelSource).
CLI::Option* AddModel(cli::Flags& flags, std::string& text, bool of_collector = true);

// Reads a model for a search, which works without one, too: returns null if `source` is empty, and null with a warning
// if there is no model that this program can use.
std::shared_ptr<const model::CostModel> LoadModelForSearch(const ModelSource& source);

// Returns a function for tune::SessionOptions::suggest; empty without a model.
std::function<std::vector<codegen::Config>(const v1::Run&, const device::DeviceProperties&,
                                           const codegen::ConfigSpace&)>
SuggestWith(std::shared_ptr<const model::CostModel> model);
// Returns a function for tune::SessionOptions::predict; empty without a model.
std::function<tune::search::PredictTime(const v1::Run&, const device::DeviceProperties&)> PredictWith(
    std::shared_ptr<const model::CostModel> model);

}  // namespace telemetry::worker
