#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/target.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/device/open_device.h"
#include "worker/kernels/library.h"
#include "worker/kernels/trace_problem.h"
#include "worker/model/cost_model.h"
#include "worker/model/first_configs.h"
#include "worker/model/run_features.h"
#include "worker/model_flag.h"
#include "worker/model_source.h"
#include "worker/spec/specification.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/config_header.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/spec_subject.h"
#include "worker/tune/spec_task.h"
#include "worker/tune_flags.h"

namespace telemetry::worker {
namespace {

using device::DeviceProperties;

struct BestFlags {
  std::string kernel;
  std::string spec;
  std::string format = "json";
  std::string prefix;
  std::vector<std::string> arguments;
  std::string device;
  std::string state_dir;
  std::string collector;
  access::Credentials credentials;
  std::vector<std::string> settings;
  bool predict = false;
  std::string model;
};

absl::StatusOr<DeviceProperties> FindDeviceProperties(const std::string& id) {
  for (const DeviceProperties& device : device::ListDevices()) {
    if (id.empty() || DeviceId(device) == id) return device;
  }
  return absl::InvalidArgumentError(absl::StrCat("--device ", id, ": no such device; see telemetry-worker devices"));
}

// A run, and the space and the device of its configs.
struct WantedRun {
  v1::Run run;
  codegen::ConfigSpace space;
  DeviceProperties device;
};

// The places where configs are known: this machine and a collector.
class Known {
 public:
  static absl::StatusOr<std::unique_ptr<Known>> Open(const BestFlags& flags) {
    auto known = std::make_unique<Known>(flags.state_dir + "/best");
    if (flags.collector.empty()) return known;
    RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
    known->collector_ = std::make_unique<client::DatasetClient>(
        client::DatasetClientOptions{.collector = flags.collector, .credentials = flags.credentials});
    return known;
  }
  explicit Known(std::string folder) : cache_(std::move(folder)) {}

  tune::KnownSources sources() const {
    return {.cache = &cache_, .collector = collector_.get(), .on_notice = [](const auto& text) {
              spdlog::warn("{}", text);
            }};
  }

 private:
  const tune::BestConfigCache cache_;
  std::unique_ptr<client::DatasetClient> collector_;
};

absl::StatusOr<tune::BestConfig> BestOfRun(const v1::Run& run, const Known& known) {
  absl::StatusOr<tune::BestConfig> best = tune::FindBestConfig(run, known.sources());
  if (!absl::IsNotFound(best.status())) return best;
  return absl::NotFoundError(absl::StrCat("no config of ", run.kernel_name(), " ", run.input_shapes(), " on ",
                                          run.hardware(),
                                          " is known; find one with telemetry-worker tune, or pass --predict"));
}

std::string JsonLine(const tune::BestConfig& best) { return record::ToJson(tune::ToJson(best)) + "\n"; }

// Returns the config that the model expects to be the fastest one of the space, among random ones and those that are
// known for other shapes.
absl::StatusOr<std::string> PredictedLine(const WantedRun& wanted, const Known& known, const BestFlags& flags) {
  ASSIGN_OR_RETURN(const model::CostModel model,
                   ReadModel({.text = flags.model, .collector = flags.collector, .credentials = flags.credentials},
                             [](const std::string& text) { spdlog::warn("{}", text); }));
  const std::vector<codegen::Config> configs =
      model::FirstConfigs(wanted.space, model::RunFeatures(wanted.run, wanted.device), model,
                          {.count = 1, .also = tune::FindKnownConfigs(wanted.run, known.sources()).starting_points});
  if (configs.empty()) return absl::NotFoundError("the space has no valid config");
  record::Json line = tune::ToJson(tune::MakeBestConfig(wanted.run, configs[0], /*perf_ms=*/0, /*attempt_id=*/""));
  std::erase_if(line.members,
                [](const auto& member) { return member.first == "perf_ms" || member.first == "attempt_id"; });
  line.members.emplace_back("predicted", record::Json::Bool(true));
  return record::ToJson(line) + "\n";
}

// Returns the line of the best known config, or of the predicted one if none is known and --predict is given.
absl::StatusOr<std::string> LineOf(const WantedRun& wanted, const Known& known, const BestFlags& flags) {
  absl::StatusOr<tune::BestConfig> best = BestOfRun(wanted.run, known);
  if (best.ok()) return JsonLine(*best);
  if (!absl::IsNotFound(best.status()) || !flags.predict) return best.status();
  return PredictedLine(wanted, known, flags);
}

// Returns the text to print for a specification.
absl::StatusOr<std::string> BestOfSpec(const BestFlags& flags) {
  ASSIGN_OR_RETURN(spec::Specification read, spec::ReadSpecification(flags.spec));
  const auto spec = std::make_shared<const spec::Specification>(std::move(read));
  ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> device, tune::DeviceForSpec(*spec, flags.device));
  ASSIGN_OR_RETURN(const std::shared_ptr<const tune::SpecKernel> kernel, tune::SpecKernel::Create(spec, device));
  const WantedRun wanted = {.run = tune::MakeSpecRun(*kernel, device->properties()),
                            .space = kernel->config_space(),
                            .device = device->properties()};
  ASSIGN_OR_RETURN(const std::unique_ptr<Known> known, Known::Open(flags));
  if (flags.format != "header") return LineOf(wanted, *known, flags);
  ASSIGN_OR_RETURN(const tune::BestConfig best, BestOfRun(wanted.run, *known));
  return tune::ConfigHeader(best, *kernel, flags.prefix);
}

absl::Status CheckPredict(const BestFlags& flags) {
  if (flags.predict == flags.model.empty()) {
    return absl::InvalidArgumentError("--predict needs --model, and --model is for --predict; pass both");
  }
  if (flags.predict && flags.format == "header") {
    return absl::InvalidArgumentError("--predict: a header is made only of a measured config; use --format json");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Best(const BestFlags& flags) {
  RETURN_IF_ERROR(CheckKernelOrSpec(flags.kernel, flags.spec));
  RETURN_IF_ERROR(CheckPredict(flags));
  if (!flags.spec.empty()) return BestOfSpec(flags);
  if (flags.format == "header") {
    return absl::InvalidArgumentError("--format header: only a specification's config has macros; pass --spec");
  }
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(flags.kernel);
  if (!kernel.ok()) return absl::InvalidArgumentError(kernel.status().message());
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ParseProblem(**kernel, flags.arguments));
  ASSIGN_OR_RETURN(runtime::Settings settings, ParseSettings(flags.settings));
  ASSIGN_OR_RETURN(DeviceProperties device, FindDeviceProperties(flags.device));
  ASSIGN_OR_RETURN(const ir::DeviceIr ir, kernels::TraceProblem(**kernel, problem));
  const WantedRun wanted = {.run = tune::MakeLibraryRun(**kernel, problem, settings, device),
                            .space = codegen::ConfigSpaceFor(ir, codegen::Target::For(device)),
                            .device = device};
  ASSIGN_OR_RETURN(const std::unique_ptr<Known> known, Known::Open(flags));
  return LineOf(wanted, *known, flags);
}

class BestCommand final : public cli::Command {
 public:
  BestCommand()
      : Command(
            {.name = "best",
             .summary = "Print the best known config of a kernel as JSON or as a C header",
             .examples = R"(  telemetry-worker best softmax                               default shapes, first device
  telemetry-worker best softmax --arg x=1024x8192:f32 --device cuda:0
  telemetry-worker best --spec conv.json --format header > conv_h200.h    #defines for the program that launches it
  telemetry-worker best --spec conv.json --format header --prefix CONV_H200_    for several headers in one program
  telemetry-worker best softmax --collector collector:4747    also search the configs that other machines found
  telemetry-worker best softmax --arg x=3000x777:f16 --predict --model model.jsonl    for a shape that nobody tuned
  telemetry-worker best softmax --arg x=3000x777:f16 --predict --model collector --collector collector:4747
)",
             .notes =
                 R"(Considers the best config of this machine's attempts and, with --collector, the best config that the collector has for
the same run from any machine. Prefers a config that was measured in a final, then the faster one. A config from the
collector is printed with an empty attempt_id. With --predict, if no config is known, prints the one that the model
expects to be the fastest, without perf_ms and attempt_id, and with "predicted": true.
A header defines each parameter of the specification with its value, and the launch for the specification's problem
size: launch_blocks_x, launch_threads_x, launch_shared_bytes and so on. It holds for one device and one size.
Exit status: 0 printed; 1 no config is known; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    AddKernelOrSpec(flags, flags_.kernel, flags_.spec);
    flags.Add("format", flags_.format, "Format: json, or header (a C header; with --spec)")
        ->check(CLI::IsMember({"json", "header"}));
    flags.Add("prefix", flags_.prefix, "Prefix of the header's macros")->type_name("PREFIX");
    AddArguments(flags, flags_.arguments);
    AddPairs(flags, "setting", flags_.settings, "A setting of the kernel: static_shapes=false");
    flags.Add("device", flags_.device, "One of `telemetry-worker devices` (default: the first)")->type_name("DEVICE");
    flags_.state_dir = DefaultStateDir("tune");
    flags.Add("state-dir", flags_.state_dir, "Folder of the best configs found on this machine")->type_name("DIR");
    flags.Add("collector", flags_.collector, "Also query this collector")->type_name("HOST:PORT");
    access::AddCredentialFlags(flags, flags_.credentials);
    flags.Switch("predict", flags_.predict, "If no config is known, print the one that --model expects to be fastest");
    AddModel(flags, flags_.model);
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::string text, Best(flags_));
    std::cout << text;
    return cli::kExitDone;
  }

 private:
  BestFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewBest() { return cli::New<BestCommand>(); }

}  // namespace telemetry::worker
