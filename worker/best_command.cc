#include "worker/best_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/kernels/library.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/library_subject.h"
#include "worker/tune_flags.h"

namespace telemetry {
namespace {

namespace kernels = worker::kernels;
namespace tune = worker::tune;

struct BestFlags {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string device;
  std::string state_dir;
  std::string collector;
  access::Credentials credentials;
  std::vector<std::string> settings;
};

absl::StatusOr<worker::DeviceProperties> PropertiesOf(const std::string& id) {
  for (const worker::DeviceProperties& device : worker::ListDevices()) {
    if (id.empty() || worker::DeviceId(device) == id) return device;
  }
  return absl::InvalidArgumentError(absl::StrCat("--device ", id, ": no such device; see telemetry-worker devices"));
}

absl::StatusOr<tune::BestConfig> FindFor(const v1::Run& run, const BestFlags& flags) {
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
  ASSIGN_OR_RETURN(worker::Settings settings, SettingsOf({.settings = flags.settings}));
  ASSIGN_OR_RETURN(worker::DeviceProperties device, PropertiesOf(flags.device));
  const v1::Run run = tune::MakeLibraryRun(**kernel, problem, settings, device);
  absl::StatusOr<tune::BestConfig> best = FindFor(run, flags);
  if (!absl::IsNotFound(best.status())) return best;
  return absl::NotFoundError(absl::StrCat("no config of ", flags.kernel, " ", run.input_shapes(), " on ",
                                          run.hardware(), " is known; find one with telemetry-worker tune"));
}

}  // namespace

void AddBestCommand(CLI::App* app, int* exit_status) {
  auto flags = std::make_shared<BestFlags>();
  CLI::App* command = app->add_subcommand("best", "Print the best known config of a kernel as JSON");
  command->footer(R"(Examples:
  telemetry-worker best softmax                               default shapes, first device
  telemetry-worker best softmax --arg x=1024x8192:f32 --device cuda:0
  telemetry-worker best softmax --collector collector:4747    also search the configs that other machines found

Considers the best config of this machine's attempts and, with --collector, the best config that the collector has for
the same run from any machine. Prefers a config that was measured in a final, then the faster one. A config from the
collector is printed with an empty attempt_id.
Exit status: 0 printed; 1 no config is known; 2 wrong usage.)");
  command->add_option("kernel", flags->kernel, "One of `telemetry-worker kernels`")->required()->type_name("KERNEL");
  const auto list = [command](const std::string& name, std::vector<std::string>& values, const std::string& help) {
    AddOption(command, name, values, help)->type_name("NAME=VALUE")->take_all()->allow_extra_args(false);
  };
  list("--arg", flags->arguments, "A tensor's shape and dtype, or a number: x=128x64:f32, causal=true");
  list("--setting", flags->settings, "A setting of the kernel: static_shapes=false");
  AddOption(command, "--device", flags->device, "One of `telemetry-worker devices` (default: the first)")
      ->type_name("DEVICE");
  flags->state_dir = DefaultStateDir("tune");
  AddOption(command, "--state-dir", flags->state_dir, "Folder of the best configs found on this machine")
      ->type_name("DIR");
  AddOption(command, "--collector", flags->collector, "Also query this collector")->type_name("HOST:PORT");
  AddCredentialFlags(command, &flags->credentials);
  command->callback([flags, exit_status] {
    const absl::StatusOr<tune::BestConfig> best = Best(*flags);
    if (best.ok()) {
      std::cout << record::ToJson(tune::ToJson(*best)) << "\n";
      return;
    }
    spdlog::error("{}", std::string(best.status().message()));
    *exit_status = absl::IsInvalidArgument(best.status()) ? 2 : 1;
  });
}

}  // namespace telemetry
