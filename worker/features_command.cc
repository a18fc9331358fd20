#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/row.h"
#include "worker/commands.h"
#include "worker/model/cost_model.h"
#include "worker/model/dataset_runs.h"
#include "worker/model/run_features.h"

namespace telemetry::worker {
namespace {

using record::sidecar::CsvField;

struct FeaturesFlags {
  std::string dataset;
  std::string out;
  std::string model;
};

// Writes one line for each config of a run.
void WriteRun(const model::DatasetRun& run, const std::optional<model::CostModel>& model, std::ostream& out) {
  const model::RunFeatures features = run.Features();
  const std::string of_run = absl::StrCat(model::kFeatureVersion, ",", run.run.run_id(), ",",
                                          CsvField(run.run.kernel_name()), ",", CsvField(run.run.input_shapes()), ",",
                                          CsvField(run.run.dtypes()), ",", CsvField(run.run.hardware()));
  std::string line;
  for (const replay::StoredConfig& config : run.stored.configs) {
    line = absl::StrCat(of_run, ",", record::FormatConfigId(config.config.id()), ",",
                        config.perf_ms ? record::FloatRepr(*config.perf_ms) : "");
    const std::vector<float> values = features.Of(config.config);
    for (const float value : values) {
      line += ',';
      if (!std::isnan(value)) absl::StrAppendFormat(&line, "%.9g", value);
    }
    if (model) absl::StrAppendFormat(&line, ",%.9g", model->Predict(values));
    out << line << "\n";
  }
}

absl::Status WriteFeatures(const FeaturesFlags& flags) {
  std::optional<model::CostModel> model;
  if (!flags.model.empty()) {
    ASSIGN_OR_RETURN(model, model::CostModel::Load(flags.model));
  }
  ASSIGN_OR_RETURN(const std::vector<model::DatasetRun> runs,
                   model::ReadDatasetRuns(flags.dataset, [](const v1::Run& /*run*/) { return true; }));
  std::ofstream out(flags.out, std::ios::binary);
  out << "feature_version,run_id,kernel_name,input_shapes,dtypes,hardware,config_id,perf_ms";
  for (const std::string& name : model::FeatureNames()) out << "," << name;
  out << (model ? ",predicted\n" : "\n");
  for (const model::DatasetRun& run : runs) WriteRun(run, model, out);
  if (!out.flush()) {
    return absl::UnavailableError(absl::StrCat(flags.out, ": cannot be written; check the folder and the free space"));
  }
  return absl::OkStatus();
}

class FeaturesCommand final : public cli::Command {
 public:
  FeaturesCommand()
      : Command(
            {.name = "features",
             .summary = "Write the features of each config of a dataset, from which a cost model is trained",
             .examples = R"(  telemetry-worker features --dataset snapshot --out features.csv
  telemetry-worker features --dataset snapshot --model model.jsonl --out predictions.csv
)",
             .notes =
                 R"(Writes a line for each config of each run: run, config, the median time in milliseconds (empty: the config failed) and
the features in the order in which a cost model expects them (empty: not known). `python -m autotune_telemetry.train`
calls this command.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.Add("dataset", flags_.dataset, "BASE of telemetry-export --layout keyed; --details makes times exact")
        ->type_name("BASE")
        ->required();
    flags.Add("model", flags_.model, "Also write this cost model's prediction for each config")->type_name("FILE");
    flags.Add("out", flags_.out, "The CSV file to write")->type_name("FILE")->required();
  }

  absl::StatusOr<int> Run() override {
    RETURN_IF_ERROR(WriteFeatures(flags_));
    return cli::kExitDone;
  }

 private:
  FeaturesFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewFeatures() { return cli::New<FeaturesCommand>(); }

}  // namespace telemetry::worker
