#include "worker/model_flag.h"

#include <utility>

#include "absl/status/statusor.h"
#include "spdlog/spdlog.h"
#include "worker/model/first_configs.h"
#include "worker/model/run_features.h"

namespace telemetry::worker {

CLI::Option* AddModel(cli::Flags& flags, std::string& text, bool of_collector) {
  std::string help =
      "Cost model of python -m autotune_telemetry.train, which chooses the first configs and is a prior of the search";
  if (of_collector) help += "; collector or collector:SENDER: the newest one that the collector stores";
  return flags.Add("model", text, help)->type_name("FILE");
}

std::shared_ptr<const model::CostModel> LoadModelForSearch(const ModelSource& source) {
  if (source.text.empty()) return nullptr;
  absl::StatusOr<model::CostModel> model = ReadModel(source, [](const std::string& text) { spdlog::warn("{}", text); });
  if (model.ok()) return std::make_shared<const model::CostModel>(*std::move(model));
  spdlog::warn("searching without the cost model: {}", std::string(model.status().message()));
  return nullptr;
}

std::function<std::vector<codegen::Config>(const v1::Run&, const device::DeviceProperties&,
                                           const codegen::ConfigSpace&)>
SuggestWith(std::shared_ptr<const model::CostModel> model) {
  if (model == nullptr) return {};
  return [model = std::move(model)](const v1::Run& run, const device::DeviceProperties& device,
                                    const codegen::ConfigSpace& space) {
    return model::FirstConfigs(space, model::RunFeatures(run, device), *model);
  };
}

std::function<tune::search::PredictTime(const v1::Run&, const device::DeviceProperties&)> PredictWith(
    std::shared_ptr<const model::CostModel> model) {
  if (model == nullptr) return {};
  return [model = std::move(model)](const v1::Run& run, const device::DeviceProperties& device) {
    const auto features = std::make_shared<const model::RunFeatures>(run, device);
    return [model, features](const codegen::Config& config) { return model->Predict(features->Of(config)); };
  };
}

}  // namespace telemetry::worker
