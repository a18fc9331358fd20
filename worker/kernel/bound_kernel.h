#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generate.h"
#include "worker/kernel/call_contract.h"
#include "worker/kernel/compile_cache.h"
#include "worker/kernel/compiled_kernel.h"
#include "worker/kernel/kernel_definition.h"

namespace telemetry::worker {

// A kernel bound to arguments: traced for their specialization key and extra keys, with the code of each config that
// was asked for, and the config that calls run. Thread-safe, but for what the device asks of its callers (device.h).
// Made by Kernel::Bind; may outlive the Kernel.
//
// Arguments are complete, one per parameter in order (Signature::Normalize), and each call checks that the code is for
// them: INVALID_ARGUMENT where it is not.
class BoundKernel {
 public:
  // Traces. `device` is null in reference mode. INVALID_ARGUMENT: the arguments are not on the device, or the traced
  // function made a mistake (the message says where). `cache` is shared by a kernel's BoundKernels.
  static absl::StatusOr<std::shared_ptr<BoundKernel>> Create(std::shared_ptr<const KernelDefinition> definition,
                                                             std::string key, absl::Span<const Argument> arguments,
                                                             std::shared_ptr<Device> device,
                                                             std::shared_ptr<CompileCache> cache);

  const std::string& name() const { return definition_->name; }
  const KernelDefinition& definition() const { return *definition_; }
  const std::string& key() const { return key_; }
  const ExtraKeys& extra_keys() const { return contract_.extra_keys(); }
  const ir::DeviceIr& ir() const { return ir_; }
  const codegen::ConfigSpace& config_space() const { return config_space_; }
  // Null in reference mode.
  const std::shared_ptr<Device>& device() const { return device_; }

  // The code of a config, keys that it lacks at their defaults. Errors are codegen::Generate's; FAILED_PRECONDITION:
  // there is no device to generate for.
  absl::StatusOr<codegen::GeneratedKernel> Generate(const codegen::Config& config) const;
  absl::StatusOr<std::string> ToSource(const codegen::Config& config) const;

  // Generated, compiled and loaded; from the cache where it was before. Logs the code at debug level, and prints it
  // with print_output_code. Errors are Generate's and CompileCache::Get's.
  absl::StatusOr<std::shared_ptr<CompiledKernel>> CompileConfig(const codegen::Config& config);

  // Compiles, and lets calls run it from now on. Errors leave what was set before.
  absl::Status SetConfig(const codegen::Config& config);
  // What SetConfig or autotuning set.
  std::optional<codegen::Config> config() const;

  // The config that a call runs without autotuning: the one set, else the only fixed one, else, where there is no fixed
  // one, the default with use_default_config. FAILED_PRECONDITION: there is none; the message says how to give one.
  absl::StatusOr<codegen::Config> ImplicitConfig() const;

  // Finds a config and sets it. Without force (nor the setting force_autotune) the only fixed config is taken as it is,
  // and of several each is tried (FiniteSearch). Else a full search by the kernel's Search.
  // FAILED_PRECONDITION: autotuning is disallowed, there is no Search, or this is reference mode. Other errors are the
  // search's.
  absl::StatusOr<codegen::Config> Autotune(absl::Span<const Argument> arguments, bool force = false);

  // Runs the set config, or the implicit one, or autotunes first. Queues: synchronise before reading. Returns the
  // outputs in the order in which the kernel declares them, dense, in memory that each call allocates (RunInto: none).
  // In reference mode evaluates on the host, where they are then.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Argument> arguments);
  // The same into outputs that the caller keeps, of AllocateOutputs. INVALID_ARGUMENT: they are not as the kernel wants
  // them. Costs little more than a launch.
  absl::Status RunInto(absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs);

  // Dense, not initialised.
  absl::StatusOr<std::vector<Tensor>> AllocateOutputs(absl::Span<const Argument> arguments) const;
  // Queues that code, of CompileConfig, whichever config is set: what searches measure.
  absl::Status Launch(CompiledKernel& compiled, absl::Span<const Argument> arguments,
                      absl::Span<const Tensor> outputs) const;

  // What this is: keys, config, settings, config space and IR, for people.
  std::string DebugString() const;

 private:
  friend class Kernel;

  BoundKernel(std::shared_ptr<const KernelDefinition> definition, std::string key, ir::DeviceIr ir,
              CallContract contract, std::shared_ptr<Device> device, std::shared_ptr<CompileCache> cache);

  bool ReferenceMode() const { return definition_->settings.reference_mode; }
  absl::StatusOr<Leaves> CheckedLeaves(absl::Span<const Argument> arguments) const;
  absl::Status CheckOutputs(const Leaves& leaves, absl::Span<const Tensor> outputs) const;
  absl::StatusOr<std::vector<Tensor>> AllocateOutputs(const Leaves& leaves) const;
  void ShowCode(const codegen::Config& config, const std::string& source) const;

  // Runs with arguments that are known to match.
  absl::Status RunMatchedInto(absl::Span<const Argument> arguments, const Leaves& leaves,
                              absl::Span<const Tensor> outputs);
  absl::StatusOr<std::vector<Tensor>> RunMatched(absl::Span<const Argument> arguments, const Leaves& leaves);
  absl::StatusOr<std::vector<Tensor>> RunReference(const Leaves& leaves) const;

  absl::StatusOr<std::shared_ptr<CompiledKernel>> ConfigToRun(absl::Span<const Argument> arguments)
      ABSL_LOCKS_EXCLUDED(mutex_, autotune_mutex_);
  absl::StatusOr<codegen::Config> FindConfig(absl::Span<const Argument> arguments, bool force);

  const std::shared_ptr<const KernelDefinition> definition_;
  const std::string key_;
  const ir::DeviceIr ir_;
  const CallContract contract_;
  const codegen::ConfigSpace config_space_;
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<CompileCache> cache_;
  std::vector<const ir::HostTensor*> output_tensors_;

  // Held while a call looks for its first config, so that others wait for that one.
  absl::Mutex autotune_mutex_;

  mutable absl::Mutex mutex_;
  std::optional<codegen::Config> config_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<CompiledKernel> current_ ABSL_GUARDED_BY(mutex_);  // of config_
  absl::flat_hash_map<std::string, std::shared_ptr<CompiledKernel>> compiled_
      ABSL_GUARDED_BY(mutex_);  // by config text
};

}  // namespace telemetry::worker
