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
#include "worker/codegen/config_space.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/codegen/target.h"
#include "worker/runtime/call_contract.h"
#include "worker/runtime/compile_cache.h"
#include "worker/runtime/compiled_kernel.h"
#include "worker/runtime/kernel_definition.h"
#include "worker/runtime/search.h"

namespace telemetry::worker::runtime {

// A kernel that is bound to arguments: the trace for their specialization key and extra keys, the code of each
// requested config, and the config that calls run. Thread-safe, except for the thread rules of the device (device.h).
// Created by Kernel::Bind; may outlive the Kernel.
//
// Arguments are complete: one per parameter, in order (Signature::Normalize). Each call checks that the code supports
// its arguments and returns INVALID_ARGUMENT if it does not.
class BoundKernel {
 public:
  // Traces the kernel. `device` is null in reference mode. BoundKernels of one kernel share `cache`. INVALID_ARGUMENT:
  // the arguments are not on the device, or the traced function made a mistake (the message contains the location).
  static absl::StatusOr<std::shared_ptr<BoundKernel>> Create(std::shared_ptr<const KernelDefinition> definition,
                                                             std::string key, absl::Span<const Argument> arguments,
                                                             std::shared_ptr<device::Device> device,
                                                             std::shared_ptr<CompileCache> cache);

  const std::string& name() const { return definition_->name; }
  const KernelDefinition& definition() const { return *definition_; }
  const std::string& key() const { return key_; }
  const ExtraKeys& extra_keys() const { return contract_.extra_keys(); }
  const ir::DeviceIr& ir() const { return ir_; }
  const codegen::ConfigSpace& config_space() const { return config_space_; }
  // Null in reference mode.
  const std::shared_ptr<device::Device>& device() const { return device_; }

  // Generates the code of a config; missing keys get their defaults. Returns the errors of codegen::Generate.
  // FAILED_PRECONDITION: there is no device to generate code for.
  absl::StatusOr<codegen::GeneratedKernel> Generate(const codegen::Config& config) const;
  // Generates code without tensor cores, tf32 and approximate functions, to check the results of other code with.
  absl::StatusOr<codegen::GeneratedKernel> GeneratePlain(const codegen::Config& config) const;
  absl::StatusOr<std::string> ToSource(const codegen::Config& config) const;
  // Returns the code of the config that a call would run without autotuning, or of the default config if there is none.
  absl::StatusOr<std::string> ToSource() const;

  // Generates, compiles and loads a config, or returns it from the cache. Logs the code at debug level, and prints it
  // if print_output_code is set. Returns the errors of Generate and CompileCache::Get.
  absl::StatusOr<std::shared_ptr<CompiledKernel>> CompileConfig(const codegen::Config& config);

  // Compiles a config and makes calls run it. After an error, the previous config stays set.
  absl::Status SetConfig(const codegen::Config& config);
  // Returns the config that SetConfig or Autotune set.
  std::optional<codegen::Config> config() const;

  // Returns the config that a call runs without autotuning: the one that is set, else the only fixed config, else the
  // default config if there are no fixed configs and use_default_config is set. FAILED_PRECONDITION: there is none; the
  // message says how to provide one.
  absl::StatusOr<codegen::Config> ImplicitConfig() const;

  // Finds a config and sets it. A single config to choose from, of `options` or else a fixed one, is used without
  // measurement. The kernel's Search chooses among several ones. If there are none, or with options.force or the
  // setting force_autotune, it searches the whole space. FAILED_PRECONDITION: such a search is disallowed, there is no
  // Search, or this is reference mode. Other errors are the Search's.
  absl::StatusOr<codegen::Config> Autotune(absl::Span<const Argument> arguments, AutotuneOptions options = {});

  // Runs the config that is set, or the implicit one, or autotunes first. Queues the launch: synchronise before
  // reading. Returns the outputs in the order in which the kernel declares them: dense, in newly allocated memory
  // (RunInto allocates none). In reference mode the kernel is evaluated on the host, and the outputs are there.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Argument> arguments);
  // Runs the kernel into outputs that the caller owns: those of AllocateOutputs, or other dense tensors on the device
  // (program_tensor.h). INVALID_ARGUMENT: they do not fit the kernel. The overhead over a launch is small.
  absl::Status RunInto(absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs);

  // Writes a program that repeats a call with these arguments and the config that the call would run without
  // autotuning: for a call that is slow or wrong. `reason` is for the reader of the program. Returns the errors of
  // ImplicitConfig and of the ReproWriter. FAILED_PRECONDITION: the kernel has none, or is in reference mode.
  absl::Status WriteRepro(absl::Span<const Argument> arguments, const std::string& reason) const;

  // Returns dense outputs that are not initialised.
  absl::StatusOr<std::vector<Tensor>> AllocateOutputs(absl::Span<const Argument> arguments) const;
  // Queues a launch of `compiled`, a result of CompileConfig, independent of the config that is set. Used by searches.
  absl::Status Launch(CompiledKernel& compiled, absl::Span<const Argument> arguments,
                      absl::Span<const Tensor> outputs) const;

  // Returns the keys, config, settings, config space and IR as text for people.
  std::string DebugString() const;

 private:
  friend class Kernel;

  BoundKernel(std::shared_ptr<const KernelDefinition> definition, std::string key, ir::DeviceIr ir,
              CallContract contract, std::shared_ptr<device::Device> device, std::shared_ptr<CompileCache> cache);

  bool ReferenceMode() const { return definition_->settings.reference_mode; }
  absl::StatusOr<Leaves> CheckedLeaves(absl::Span<const Argument> arguments) const;
  absl::Status CheckOutputs(const Leaves& leaves, absl::Span<const Tensor> outputs) const;
  absl::StatusOr<std::vector<Tensor>> AllocateOutputs(const Leaves& leaves) const;
  absl::StatusOr<codegen::GeneratedKernel> GenerateWith(const codegen::Config& config,
                                                        const codegen::GenerateOptions& options) const;
  void ShowCode(const codegen::Config& config, const std::string& source) const;

  // Runs the kernel with arguments that are known to match.
  absl::Status RunMatchedInto(absl::Span<const Argument> arguments, const Leaves& leaves,
                              absl::Span<const Tensor> outputs);
  absl::StatusOr<std::vector<Tensor>> RunMatched(absl::Span<const Argument> arguments, const Leaves& leaves);
  // Queues a launch of the config to run. With print_repro, waits for it.
  absl::Status LaunchConfig(absl::Span<const Argument> arguments, const Leaves& leaves,
                            absl::Span<const Tensor> outputs);
  absl::StatusOr<std::vector<Tensor>> RunOnDevice(absl::Span<const Argument> arguments, const Leaves& leaves);
  // Writes a program if print_repro is set. Logs why it was not written.
  void ReportForRepro(absl::Span<const Argument> arguments, const std::string& reason) const;
  absl::StatusOr<std::vector<Tensor>> RunReference(const Leaves& leaves) const;

  absl::StatusOr<std::shared_ptr<CompiledKernel>> ConfigToRun(absl::Span<const Argument> arguments)
      ABSL_LOCKS_EXCLUDED(mutex_, autotune_mutex_);
  absl::StatusOr<codegen::Config> FindConfig(absl::Span<const Argument> arguments, AutotuneOptions options);

  const std::shared_ptr<const KernelDefinition> definition_;
  const std::string key_;
  const ir::DeviceIr ir_;
  const CallContract contract_;
  const codegen::ConfigSpace config_space_;
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<CompileCache> cache_;
  std::vector<const ir::HostTensor*> output_tensors_;

  // Held while a call looks for its first config, so that other calls wait for that config.
  absl::Mutex autotune_mutex_;

  mutable absl::Mutex mutex_;
  std::optional<codegen::Config> config_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<CompiledKernel> current_ ABSL_GUARDED_BY(mutex_);  // for config_
  absl::flat_hash_map<std::string, std::shared_ptr<CompiledKernel>> compiled_
      ABSL_GUARDED_BY(mutex_);  // by the config's text
};

}  // namespace telemetry::worker::runtime
