#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/device/open_device.h"
#include "worker/kernels/library.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/library_subject.h"
#include "worker/tune_flags.h"

namespace telemetry::worker {
namespace {

using device::DeviceProperties;

struct BestFlags {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string device;
  std::string state_dir;
  std::string collector;
  access::Credentials credentials;
  std::vector<std::string> settings;
};

absl::StatusOr<DeviceProperties> FindDeviceProperties(const std::string& id) {
  for (const DeviceProperties& device : device::ListDevices()) {
    if (id.empty() || DeviceId(device) == id) return device;
  }
  return absl::InvalidArgumentError(absl::StrCat("--device ", id, ": no such device; see telemetry-worker devices"));
}

absl::StatusOr<tune::BestConfig> FindBestFor(const v1::Run& run, const BestFlags& flags) {
  const tune::BestConfigCache cache(flags.state_dir + "/best");
  std::unique_ptr<client::DatasetClient> collector;
  if (!flags.collector.empty()) {
    RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
    collector = std::make_unique<client::DatasetClient>(
        client::DatasetClientOptions{.collector = flags.collector, .credentials = flags.credentials});
  }
  return tune::FindBestConfig(run, {.cache = &cache, .collector = collector.get(), .on_notice = [](const auto& text) {
                                      spdlog::warn("{}", text);
                                    }});
}

absl::StatusOr<tune::BestConfig> Best(const BestFlags& flags) {
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(flags.kernel);
  if (!kernel.ok()) return absl::InvalidArgumentError(kernel.status().message());
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ParseProblem(**kernel, flags.arguments));
  ASSIGN_OR_RETURN(runtime::Settings settings, ParseSettings(flags.settings));
  ASSIGN_OR_RETURN(DeviceProperties device, FindDeviceProperties(flags.device));
  const v1::Run run = tune::MakeLibraryRun(**kernel, problem, settings, device);
  absl::StatusOr<tune::BestConfig> best = FindBestFor(run, flags);
  if (!absl::IsNotFound(best.status())) return best;
  return absl::NotFoundError(absl::StrCat("no config of ", flags.kernel, " ", run.input_shapes(), " on ",
                                          run.hardware(), " is known; find one with telemetry-worker tune"));
}

class BestCommand final : public cli::Command {
 public:
  BestCommand()
      : Command(
            {.name = "best",
             .summary = "Print the best known config of a kernel as JSON",
             .examples = R"(  telemetry-worker best softmax                               default shapes, first device
  telemetry-worker best softmax --arg x=1024x8192:f32 --device cuda:0
  telemetry-worker best softmax --collector collector:4747    also search the configs that other machines found
)",
             .notes =
                 R"(Considers the best config of this machine's attempts and, with --collector, the best config that the collector has for
the same run from any machine. Prefers a config that was measured in a final, then the faster one. A config from the
collector is printed with an empty attempt_id.
Exit status: 0 printed; 1 no config is known; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    AddKernel(flags, flags_.kernel);
    AddArguments(flags, flags_.arguments);
    AddPairs(flags, "setting", flags_.settings, "A setting of the kernel: static_shapes=false");
    flags.Add("device", flags_.device, "One of `telemetry-worker devices` (default: the first)")->type_name("DEVICE");
    flags_.state_dir = DefaultStateDir("tune");
    flags.Add("state-dir", flags_.state_dir, "Folder of the best configs found on this machine")->type_name("DIR");
    flags.Add("collector", flags_.collector, "Also query this collector")->type_name("HOST:PORT");
    access::AddCredentialFlags(flags, flags_.credentials);
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const tune::BestConfig best, Best(flags_));
    std::cout << record::ToJson(tune::ToJson(best)) << "\n";
    return cli::kExitDone;
  }

 private:
  BestFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewBest() { return cli::New<BestCommand>(); }

}  // namespace telemetry::worker
