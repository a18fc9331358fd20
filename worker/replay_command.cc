#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/commands.h"
#include "worker/model/cost_model.h"
#include "worker/model/dataset_runs.h"
#include "worker/model/first_configs.h"
#include "worker/model_flag.h"
#include "worker/replay/replay.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker {
namespace {

using replay::ReplayReport;

constexpr size_t kRanked = 20'000;  // stored configs of a run that the model ranks; more are sampled

struct ReplayFlags {
  std::string dataset;
  std::string kernel;
  std::string hardware;
  std::string run;
  std::string json;
  std::string model;
  bool related = false;
  replay::ReplayOptions options;
};

bool IsSelected(const ReplayFlags& flags, const v1::Run& run) {
  return (flags.kernel.empty() || run.kernel_name() == flags.kernel) &&
         (flags.hardware.empty() || run.hardware() == flags.hardware) && run.run_id().starts_with(flags.run);
}

// Returns the selected runs; with --related all runs, because others may be related to them.
absl::StatusOr<std::vector<model::DatasetRun>> ReadRuns(const ReplayFlags& flags) {
  const auto is_selected = [&](const v1::Run& run) { return IsSelected(flags, run); };
  const auto is_read = [&](const v1::Run& run) { return flags.related || IsSelected(flags, run); };
  ASSIGN_OR_RETURN(std::vector<model::DatasetRun> runs, model::ReadDatasetRuns(flags.dataset, is_read));
  if (std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return is_selected(run.run); })) return runs;
  return absl::NotFoundError(absl::StrCat(
      flags.dataset, ": no run of the dataset has rows and is selected; check --kernel, --hardware and --run"));
}

// Warns if the model was trained with one of the runs: its predictions for that run are then too good.
void WarnOfTrainedRuns(const model::CostModel& model, const std::vector<model::DatasetRun>& runs) {
  const record::Json* const trained = model.provenance().Find("run_ids");
  if (trained == nullptr) return;
  std::set<std::string> ids;
  for (const record::Json& id : trained->items) ids.insert(id.text);
  const auto known =
      std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return ids.contains(run.run.run_id()); });
  if (known > 0) {
    spdlog::warn("the model was trained with {} of the {} runs; train it with --exclude-run to judge it by them", known,
                 runs.size());
  }
}

tune::search::RunTraits TraitsOf(const model::DatasetRun& run) {
  return {.input_shapes = run.stored.input_shapes,
          .dtypes = run.stored.dtypes,
          .hardware = run.stored.hardware,
          .source = run.run.kernel_source()};
}

// Returns the other runs of the run's kernel as a search would know them, the nearest first.
std::vector<tune::search::RelatedRun> RelatedOf(const model::DatasetRun& run,
                                                const std::vector<model::DatasetRun>& runs) {
  std::vector<tune::search::RelatedRun> related;
  for (const model::DatasetRun& other : runs) {
    if (other.run.run_id() == run.run.run_id() || other.stored.kernel_name != run.stored.kernel_name) continue;
    std::vector<tune::search::Trial> trials;
    for (const replay::StoredConfig& config : other.stored.configs) trials.push_back({config.config, config.perf_ms});
    related.push_back({.trials = tune::search::SelectTrials(std::move(trials)),
                       .noise = tune::search::RelationNoise(TraitsOf(run), TraitsOf(other))});
  }
  tune::search::KeepNearest(&related);
  return related;
}

absl::StatusOr<ReplayReport> Replay(const ReplayFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<model::DatasetRun> runs, ReadRuns(flags));
  std::map<std::string, const model::DatasetRun*> by_id;
  std::vector<replay::StoredRun> stored;
  for (const model::DatasetRun& run : runs) {
    by_id.emplace(run.run.run_id(), &run);
    if (IsSelected(flags, run.run)) stored.push_back(run.stored);
  }
  replay::ReplayOptions options = flags.options;
  std::optional<model::CostModel> model;
  if (!flags.model.empty()) {
    ASSIGN_OR_RETURN(model, model::CostModel::Load(flags.model));
    WarnOfTrainedRuns(*model, runs);
    options.suggest = [&](const replay::StoredRun& run, const codegen::ConfigSpace& space) {
      return model::FirstConfigs(space, by_id.at(run.run_id)->Features(), *model, {.sample = kRanked});
    };
    options.predict = [&](const replay::StoredRun& run) -> tune::search::PredictTime {
      return [features = std::make_shared<const model::RunFeatures>(by_id.at(run.run_id)->Features()),
              &model](const codegen::Config& config) { return model->Predict(features->Of(config)); };
    };
  }
  if (flags.related) {
    options.related = [&](const replay::StoredRun& run) { return RelatedOf(*by_id.at(run.run_id), runs); };
  }
  ASSIGN_OR_RETURN(ReplayReport report, replay::ReplayRuns(std::move(stored), std::move(options)));
  report.dataset = flags.dataset;
  return report;
}

absl::Status Write(const std::string& path, const std::string& text) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) {
    return absl::UnavailableError(absl::StrCat(path, ": cannot be written; check the folder and the free space"));
  }
  return absl::OkStatus();
}

class ReplayCommand final : public cli::Command {
 public:
  ReplayCommand()
      : Command(
            {.name = "replay",
             .summary = "Run search algorithms against the measurements of a dataset instead of a device",
             .examples = R"(  telemetry-worker replay --dataset snapshot
  telemetry-worker replay --dataset snapshot --algorithm surrogate,random --seeds 100 --kernel softmax --json replay.json
  telemetry-worker replay --dataset snapshot --algorithm surrogate --model model.jsonl    with and without a cost model
  telemetry-worker replay --dataset snapshot --algorithm surrogate --related    with and without the kernel's other runs
)",
             .notes =
                 R"(A search proposes only configs that the dataset holds for the run, and gets their stored times and failures. The
simulated clock adds up the compile and measuring times of the configs, one after the other. The score is 0 for an
algorithm that is as good as random search and 1 for one that would know the optimum at once; it follows Willemsen et
al., "A methodology for comparing optimization algorithms for auto-tuning" (2024), and the package
autotuning-methodology. Equal flags and datasets give equal output.)"}) {
    flags_.options.algorithms = replay::ReplayableAlgorithms();
  }

  void AddFlags(cli::Flags& flags) override {
    flags.Add("dataset", flags_.dataset, "BASE of telemetry-export --layout keyed; --details makes times exact")
        ->type_name("BASE")
        ->required();
    flags.Add("algorithm", flags_.options.algorithms, "Search algorithms to compare")
        ->delimiter(',')
        ->type_name("NAME,...")
        ->check(CLI::IsMember(replay::ReplayableAlgorithms()));
    flags.Add("effort", flags_.options.effort, "Size of the searches, as of tune")
        ->check(CLI::IsMember({"quick", "full"}));
    flags
        .Add("max-configs", flags_.options.max_configs,
             "Maximum number of configs of a search (default: set by --effort)")
        ->check(CLI::PositiveNumber);
    flags.Add("seeds", flags_.options.seeds, "Number of searches of each algorithm in each run")
        ->check(CLI::Range(1, 100000));
    flags.Add("seed", flags_.options.first_seed, "First seed");
    flags.Add("kernel", flags_.kernel, "Only this kernel")->type_name("NAME");
    flags.Add("hardware", flags_.hardware, "Only this device")->type_name("NAME");
    flags.Add("run", flags_.run, "Only runs with this prefix of the run_id")->type_name("ID");
    flags.Add("min-configs", flags_.options.least_configs, "Skip runs with times of fewer configs")
        ->check(CLI::Range(2, 1000000000));
    flags.Add("threads", flags_.options.threads, "Number of threads (0: one per processor)")
        ->check(CLI::Range(0, 1024));
    AddModel(flags, flags_.model, /*of_collector=*/false);
    flags.Switch("related", flags_.related,
                 "Also replay surrogate with the results of the kernel's other runs in the dataset");
    flags.Add("json", flags_.json, "Also write JSON with the curves")->type_name("FILE");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const ReplayReport report, Replay(flags_));
    RETURN_IF_ERROR(Write(flags_.json, replay::ToJson(report)));
    std::cout << replay::ToText(report) << std::flush;
    if (!report.runs.empty()) return cli::kExitDone;
    return absl::FailedPreconditionError(
        absl::StrCat(flags_.dataset, ": no run can be scored; pass a smaller --min-configs or measure more configs"));
  }

 private:
  ReplayFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewReplay() { return cli::New<ReplayCommand>(); }

}  // namespace telemetry::worker
