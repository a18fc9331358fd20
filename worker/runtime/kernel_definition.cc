#include "worker/runtime/kernel_definition.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/runtime/reserved_names.h"

namespace telemetry::worker::runtime {

using record::Cat;

namespace {

absl::Status CheckGivenOnce(const KernelSpec& spec) {
  const auto refuse = [&spec](std::string_view why) {
    return absl::InvalidArgumentError(Cat("kernel '", spec.name, "': ", why));
  };
  if ((spec.body == nullptr) == (spec.body_of_arguments == nullptr)) {
    return refuse("give it either body or body_of_arguments");
  }
  if (spec.config.has_value() && !spec.configs.empty()) return refuse("give it either config or configs, not both");
  if (spec.settings.has_value() && !spec.named_settings.empty()) {
    return refuse("give it either settings or named settings, not both");
  }
  return absl::OkStatus();
}

absl::StatusOr<Settings> SettingsIn(const KernelSpec& spec) {
  if (spec.settings.has_value()) return *spec.settings;
  absl::StatusOr<Settings> settings = MakeSettings(spec.named_settings);
  if (settings.ok()) return settings;
  return absl::InvalidArgumentError(Cat("kernel '", spec.name, "': ", settings.status().message()));
}

KernelBodyOfArguments TakeBody(KernelSpec* spec) {
  if (spec->body == nullptr) return std::move(spec->body_of_arguments);
  return [body = std::move(spec->body)](ir::Trace& trace, absl::Span<const Argument>) { return body(trace); };
}

}  // namespace

absl::StatusOr<std::shared_ptr<const KernelDefinition>> Define(KernelSpec spec) {
  RETURN_IF_ERROR(CheckName("the kernel", spec.name));
  RETURN_IF_ERROR(CheckGivenOnce(spec));
  ASSIGN_OR_RETURN(Settings settings, SettingsIn(spec));
  if (settings.print_repro && spec.repro_writer == nullptr) {
    return absl::InvalidArgumentError(Cat("kernel '", spec.name, "': the setting print_repro needs a writer; set ",
                                          "repro_writer to that of repro::NewReproWriter"));
  }
  ASSIGN_OR_RETURN(Signature signature, Signature::Create(spec.name, std::move(spec.parameters)));
  KernelBodyOfArguments body = TakeBody(&spec);
  if (spec.config.has_value()) spec.configs.push_back(*std::move(spec.config));
  return std::make_shared<const KernelDefinition>(KernelDefinition{.name = std::move(spec.name),
                                                                   .signature = std::move(signature),
                                                                   .body = std::move(body),
                                                                   .configs = std::move(spec.configs),
                                                                   .settings = settings,
                                                                   .source = std::move(spec.source),
                                                                   .search = std::move(spec.search),
                                                                   .repro_writer = std::move(spec.repro_writer)});
}

}  // namespace telemetry::worker::runtime
