#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/process/step_report.h"
#include "worker/tune/tunable_kernel.h"

namespace telemetry::worker::tune {

// Compiles the first configs of an attempt before it begins: the default config and the promising ones, which a search
// tries first (codegen/promising_configs.h). An attempt whose TuneProcessOptions::pool is pool() has the code that was
// compiled by then, and waits for code that still compiles.
class CompileAhead {
 public:
  using MakeKernel = std::function<absl::StatusOr<std::shared_ptr<const TunableKernel>>()>;

  // Calls `make_kernel` and generates the code on another thread. If either fails, nothing is compiled: the attempt
  // will report the error. `on_step`, which may be empty, receives this as the step "generate ahead". Returns the
  // errors of CompilePool::Create.
  static absl::StatusOr<std::unique_ptr<CompileAhead>> Begin(MakeKernel make_kernel,
                                                             compile::CompilePoolOptions options,
                                                             process::StepReport on_step = {});

  const std::shared_ptr<compile::CompilePool>& pool() const { return pool_; }

 private:
  CompileAhead(MakeKernel make_kernel, process::StepReport on_step, std::shared_ptr<compile::CompilePool> pool);

  const std::shared_ptr<compile::CompilePool> pool_;
  const std::future<void> thread_;  // waits in its destructor
};

}  // namespace telemetry::worker::tune
