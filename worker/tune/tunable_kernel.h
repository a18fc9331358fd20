#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/generated_kernel.h"
#include "worker/device/device.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune {

// A kernel that the tuner can tune on one device: a bound kernel with arguments (BoundTunable), or a kernel of a
// specification (SpecKernel). Const methods may be called from several threads: the search generates code while the
// tuner makes requests.
class TunableKernel {
 public:
  virtual ~TunableKernel() = default;
  virtual const std::shared_ptr<device::Device>& device() const = 0;
  virtual const codegen::ConfigSpace& config_space() const = 0;

  // Generates the code of a config. An error is a config without code, which is recorded with the error's message.
  virtual absl::StatusOr<codegen::GeneratedKernel> Generate(const codegen::Config& config) const = 0;
  // Returns the request that launches generated code of a config on the problem of the subject.
  virtual absl::StatusOr<measure::MeasureRequest> MakeRequest(
      const codegen::Config& config, const codegen::GeneratedKernel& generated,
      std::shared_ptr<const device::CompiledCode> code) const = 0;
};

}  // namespace telemetry::worker::tune
