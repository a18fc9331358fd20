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

absl::StatusOr<tune::BestConfig> BestOfRun(const v1::Run& run, const BestFlags& flags) {
  absl::StatusOr<tune::BestConfig> best = FindBestFor(run, flags);
  if (!absl::IsNotFound(best.status())) return best;
  return absl::NotFoundError(absl::StrCat("no config of ", run.kernel_name(), " ", run.input_shapes(), " on ",
                                          run.hardware(), " is known; find one with telemetry-worker tune"));
}

std::string JsonLine(const tune::BestConfig& best) { return record::ToJson(tune::ToJson(best)) + "\n"; }

// Returns the text to print for a specification.
absl::StatusOr<std::string> BestOfSpec(const BestFlags& flags) {
  ASSIGN_OR_RETURN(spec::Specification read, spec::ReadSpecification(flags.spec));
  const auto spec = std::make_shared<const spec::Specification>(std::move(read));
  ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> device, tune::DeviceForSpec(*spec, flags.device));
  ASSIGN_OR_RETURN(const std::shared_ptr<const tune::SpecKernel> kernel, tune::SpecKernel::Create(spec, device));
  ASSIGN_OR_RETURN(const tune::BestConfig best, BestOfRun(tune::MakeSpecRun(*kernel, device->properties()), flags));
  return flags.format == "header" ? tune::ConfigHeader(best, *kernel, flags.prefix) : JsonLine(best);
}

absl::StatusOr<std::string> Best(const BestFlags& flags) {
  RETURN_IF_ERROR(CheckKernelOrSpec(flags.kernel, flags.spec));
  if (!flags.spec.empty()) return BestOfSpec(flags);
  if (flags.format == "header") {
    return absl::InvalidArgumentError("--format header: only a specification's config has macros; pass --spec");
  }
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(flags.kernel);
  if (!kernel.ok()) return absl::InvalidArgumentError(kernel.status().message());
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ParseProblem(**kernel, flags.arguments));
  ASSIGN_OR_RETURN(runtime::Settings settings, ParseSettings(flags.settings));
  ASSIGN_OR_RETURN(DeviceProperties device, FindDeviceProperties(flags.device));
  const v1::Run run = tune::MakeLibraryRun(**kernel, problem, settings, device);
  ASSIGN_OR_RETURN(const tune::BestConfig best, BestOfRun(run, flags));
  return JsonLine(best);
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
)",
             .notes =
                 R"(Considers the best config of this machine's attempts and, with --collector, the best config that the collector has for
the same run from any machine. Prefers a config that was measured in a final, then the faster one. A config from the
collector is printed with an empty attempt_id.
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
