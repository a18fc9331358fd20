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

namespace telemetry::worker {

// Adds --model, the file of a cost model.
CLI::Option* AddModel(cli::Flags& flags, std::string& path);

// Reads a model for a search, which works without one, too: returns null if the path is empty, and null with a warning
// if the file is not a model of this program.
std::shared_ptr<const model::CostModel> LoadModelForSearch(const std::string& path);

// Returns a function for tune::SessionOptions::suggest; empty without a model.
std::function<std::vector<codegen::Config>(const v1::Run&, const device::DeviceProperties&,
                                           const codegen::ConfigSpace&)>
SuggestWith(std::shared_ptr<const model::CostModel> model);

}  // namespace telemetry::worker
