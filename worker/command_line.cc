#include "worker/command_line.h"

#include "absl/strings/str_cat.h"

namespace telemetry::worker {

std::string DefaultStateDir(const std::string& command) {
  std::string state = cli::EnvironmentVariable("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = cli::EnvironmentVariable("HOME");
    state = home.empty() ? "/var/tmp" : absl::StrCat(home, "/.local/state");
  }
  return absl::StrCat(state, "/autotune-telemetry/", command);
}

absl::StatusOr<absl::Duration> ParseDuration(const std::string& flag, const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": not a duration like 30s, 10m or 1h"));
  }
  return duration;
}

CLI::Option* AddPairs(cli::Flags& flags, const std::string& name, std::vector<std::string>& values,
                      const std::string& help) {
  // An empty list, "[]", says nothing to a reader of the help.
  return flags.Add(name, values, help)->default_str("")->type_name("NAME=VALUE")->take_all()->allow_extra_args(false);
}

void AddKernel(cli::Flags& flags, std::string& kernel) {
  flags.command().add_option("kernel", kernel, "One of `telemetry-worker kernels`")->required()->type_name("KERNEL");
}

void AddKernelOrSpec(cli::Flags& flags, std::string& kernel, std::string& spec) {
  flags.command().add_option("kernel", kernel, "One of `telemetry-worker kernels`")->type_name("KERNEL");
  flags.Add("spec", spec, "A T1 specification of a kernel of your own, instead of KERNEL")->type_name("FILE");
}

absl::Status CheckKernelOrSpec(const std::string& kernel, const std::string& spec) {
  if (kernel.empty() != spec.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(kernel.empty() ? "give a KERNEL, or --spec with a T1 specification"
                                                   : "give a KERNEL or --spec, not both");
}

void AddArguments(cli::Flags& flags, std::vector<std::string>& arguments) {
  AddPairs(flags, "arg", arguments, "A tensor's shape and dtype, or a number: x=128x64:f32, causal=true");
}

}  // namespace telemetry::worker
