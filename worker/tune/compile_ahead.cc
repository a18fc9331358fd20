#include "worker/tune/compile_ahead.h"

#include <string>
#include <vector>

#include "proto/base/status_macros.h"
#include "worker/codegen/promising_configs.h"
#include "worker/tune/compile/compile_job.h"

namespace telemetry::worker::tune {
namespace {

void SubmitFirst(const TunableKernel& kernel, compile::CompilePool* pool) {
  std::vector<codegen::Config> configs = codegen::PromisingConfigs(kernel.config_space());
  configs.insert(configs.begin(), kernel.config_space().Default());
  for (const codegen::Config& config : configs) {
    absl::StatusOr<codegen::GeneratedKernel> generated = kernel.Generate(config);
    if (!generated.ok()) continue;
    pool->Submit(compile::MakeJob(std::move(generated->source), *kernel.device()),
                 [](const compile::CompileResult& /*result*/) {});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompileAhead>> CompileAhead::Begin(MakeKernel make_kernel,
                                                                  compile::CompilePoolOptions options,
                                                                  process::StepReport on_step) {
  ASSIGN_OR_RETURN(std::unique_ptr<compile::CompilePool> pool, compile::CompilePool::Create(std::move(options)));
  return std::unique_ptr<CompileAhead>(new CompileAhead(std::move(make_kernel), std::move(on_step), std::move(pool)));
}

CompileAhead::CompileAhead(MakeKernel make_kernel, process::StepReport on_step,
                           std::shared_ptr<compile::CompilePool> pool)
    : pool_(std::move(pool)),
      thread_(std::async(std::launch::async, [this, make_kernel = std::move(make_kernel), report = std::move(on_step)] {
        const process::ReportedStep step(report, "generate ahead");
        const absl::StatusOr<std::shared_ptr<const TunableKernel>> kernel = make_kernel();
        if (kernel.ok()) SubmitFirst(**kernel, pool_.get());
      })) {}

}  // namespace telemetry::worker::tune
