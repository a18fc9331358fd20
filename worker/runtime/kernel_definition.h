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
#include "worker/runtime/repro_writer.h"
#include "worker/runtime/search.h"
#include "worker/runtime/settings.h"
#include "worker/runtime/signature.h"

namespace telemetry::worker::runtime {

// A function that defines a kernel's operations on symbolic tiles (ir/trace.h). Called once per binding, from any
// thread, possibly concurrently.
using KernelBody = std::function<absl::Status(ir::Trace&)>;
// A kernel body that also reads the arguments, for example a function that was passed, or None. A ConstExpr is passed
// as its value.
using KernelBodyOfArguments = std::function<absl::Status(ir::Trace&, absl::Span<const Argument>)>;

// A kernel as its author defines it. Define() lists the errors.
//
//   KernelSpec{.name = "softmax", .parameters = {{.name = "x"}}, .body = Softmax, .source = kSoftmaxSource}
struct KernelSpec {
  std::string name;
  std::vector<Parameter> parameters;
  KernelBody body;
  KernelBodyOfArguments body_of_arguments;  // used instead of body

  std::optional<codegen::Config> config;  // the only config, or
  std::vector<codegen::Config> configs;   // the configs to choose from

  std::optional<Settings> settings;          // all settings, or
  std::vector<NamedSetting> named_settings;  // some settings by name

  std::string source;              // the text of the definition, which identifies the kernel in the dataset
  std::shared_ptr<Search> search;  // chooses a config; null: a call that has no config or several ones is an error
  // Writes programs that repeat calls (BoundKernel::WriteRepro, Settings::print_repro); null: none are written.
  std::shared_ptr<ReproWriter> repro_writer;
};

// A valid kernel definition. Immutable, shared by the objects created from it.
struct KernelDefinition {
  std::string name;
  Signature signature;
  KernelBodyOfArguments body;
  std::vector<codegen::Config> configs;
  Settings settings;
  std::string source;
  std::shared_ptr<Search> search;
  std::shared_ptr<ReproWriter> repro_writer;
};

// Validates a spec. INVALID_ARGUMENT: the name is not an identifier or is reserved, Signature::Create rejects the
// signature, there is no body or two, both `config` and `configs` are set, settings are given in both ways,
// MakeSettings rejects a named setting, or print_repro is set without a ReproWriter.
absl::StatusOr<std::shared_ptr<const KernelDefinition>> Define(KernelSpec spec);

}  // namespace telemetry::worker::runtime
