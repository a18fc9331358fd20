#pragma once

#include <memory>
#include <utility>

#include "worker/runtime/bound_kernel.h"
#include "worker/tune/tunable_kernel.h"

namespace telemetry::worker::tune {

// A bound kernel with the arguments of its launches as a kernel to tune.
class BoundTunable final : public TunableKernel {
 public:
  BoundTunable(std::shared_ptr<runtime::BoundKernel> kernel, runtime::Arguments arguments)
      : kernel_(std::move(kernel)), arguments_(std::move(arguments)) {}

  const std::shared_ptr<device::Device>& device() const override { return kernel_->device(); }
  const codegen::ConfigSpace& config_space() const override { return kernel_->config_space(); }
  absl::StatusOr<codegen::GeneratedKernel> Generate(const codegen::Config& config) const override;
  absl::StatusOr<measure::MeasureRequest> MakeRequest(const codegen::Config& config,
                                                      const codegen::GeneratedKernel& generated,
                                                      std::shared_ptr<const device::CompiledCode> code) const override;

 private:
  const std::shared_ptr<runtime::BoundKernel> kernel_;
  const runtime::Arguments arguments_;
};

}  // namespace telemetry::worker::tune
