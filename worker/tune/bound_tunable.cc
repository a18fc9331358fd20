#include "worker/tune/bound_tunable.h"

#include "worker/tune/measure/kernel_problem.h"

namespace telemetry::worker::tune {

absl::StatusOr<codegen::GeneratedKernel> BoundTunable::Generate(const codegen::Config& config) const {
  return kernel_->Generate(config);
}

absl::StatusOr<measure::MeasureRequest> BoundTunable::MakeRequest(
    const codegen::Config& /*config*/, const codegen::GeneratedKernel& generated,
    std::shared_ptr<const device::CompiledCode> code) const {
  return measure::MakeRequest(*kernel_, generated, arguments_, std::move(code));
}

}  // namespace telemetry::worker::tune
