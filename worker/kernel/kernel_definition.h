#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/ir/trace.h"
#include "worker/kernel/search.h"
#include "worker/kernel/settings.h"
#include "worker/kernel/signature.h"

namespace telemetry::worker {

// What a kernel does to symbolic tiles (ir/trace.h). Called once per binding, from any thread; several at once.
using KernelBody = std::function<absl::Status(ir::Trace&)>;
// The same for a function that looks at the arguments themselves: at a function that was passed, or at a None.
using KernelBodyOfArguments = std::function<absl::Status(ir::Trace&, absl::Span<const Argument>)>;

// A kernel as its author writes it down; see Define for what is refused.
//
//   KernelSpec{.name = "softmax", .parameters = {{.name = "x"}}, .body = Softmax, .source = kSoftmaxSource}
struct KernelSpec {
  std::string name;
  std::vector<Parameter> parameters;
  KernelBody body;
  KernelBodyOfArguments body_of_arguments;  // instead of body

  std::optional<codegen::Config> config;  // the only one, or
  std::vector<codegen::Config> configs;   // the ones to choose from

  std::optional<Settings> settings;          // all of them, or
  std::vector<NamedSetting> named_settings;  // some by name

  std::string source;              // the text of the definition: what identifies the kernel in the dataset
  std::shared_ptr<Search> search;  // a full search; null: autotuning without fixed configs is an error
};

// A kernel that was found good. Immutable, shared by what was made of it.
struct KernelDefinition {
  std::string name;
  Signature signature;
  KernelBodyOfArguments body;
  std::vector<codegen::Config> configs;
  Settings settings;
  std::string source;
  std::shared_ptr<Search> search;
};

// INVALID_ARGUMENT: a name that is no identifier or is reserved, a signature that Signature::Create refuses, no body or
// two, `config` together with `configs`, settings given both ways, or a named setting that SettingsOf refuses.
absl::StatusOr<std::shared_ptr<const KernelDefinition>> Define(KernelSpec spec);

}  // namespace telemetry::worker
