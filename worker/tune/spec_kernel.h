#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/config_source.h"
#include "worker/spec/declared_block.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/specification.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/tunable_kernel.h"

namespace telemetry::worker::tune {

// The kernel of a T1 specification as a kernel to tune.
class SpecKernel final : public TunableKernel {
 public:
  // Reads the kernel's files and enumerates its configs. `device` may be null if no code is launched and limits are not
  // checked. Returns the errors of ConfigSource::Create and MakeConfigSpace. INVALID_ARGUMENT: the device has another
  // language than the specification. UNIMPLEMENTED: an argument that cannot be passed.
  static absl::StatusOr<std::shared_ptr<const SpecKernel>> Create(std::shared_ptr<const spec::Specification> spec,
                                                                  std::shared_ptr<device::Device> device);

  const std::shared_ptr<device::Device>& device() const override { return device_; }
  const codegen::ConfigSpace& config_space() const override { return space_; }
  // INVALID_ARGUMENT, RESOURCE_EXHAUSTED: the launch is not valid, exceeds the device's threads or shared memory, or
  // has another block than the kernel's source declares; such a config is not compiled.
  absl::StatusOr<codegen::GeneratedKernel> Generate(const codegen::Config& config) const override;
  absl::StatusOr<measure::MeasureRequest> MakeRequest(const codegen::Config& config,
                                                      const codegen::GeneratedKernel& generated,
                                                      std::shared_ptr<const device::CompiledCode> code) const override;

  // Return the shape of the launch, and the macros of the parameters. Missing keys of the config have their defaults.
  // INVALID_ARGUMENT, RESOURCE_EXHAUSTED: as Generate().
  absl::StatusOr<spec::LaunchSize> LaunchOf(const codegen::Config& config) const;
  absl::StatusOr<std::vector<spec::Macro>> MacrosOf(const codegen::Config& config) const;

  const spec::Specification& specification() const { return *spec_; }
  // The kernel's files as text, without parameters.
  const spec::ConfigSource& source() const { return source_; }
  // Returns a request with the arguments of the specification.
  absl::StatusOr<measure::MeasureRequest> MakeRequest(const std::string& function, const spec::LaunchSize& size,
                                                      std::shared_ptr<const device::CompiledCode> code) const;

 private:
  SpecKernel(std::shared_ptr<const spec::Specification> spec, std::shared_ptr<device::Device> device,
             spec::ConfigSource source, codegen::ConfigSpace space)
      : spec_(std::move(spec)),
        device_(std::move(device)),
        source_(std::move(source)),
        declared_(spec::DeclaredBlock::Find(source_.text(), spec_->kernel_name, spec_->dialect, spec_->names())),
        space_(std::move(space)) {}

  absl::StatusOr<spec::LaunchSize> SizeOf(const std::vector<size_t>& config) const;

  const std::shared_ptr<const spec::Specification> spec_;
  const std::shared_ptr<device::Device> device_;
  const spec::ConfigSource source_;
  const spec::DeclaredBlock declared_;
  const codegen::ConfigSpace space_;
};

// Returns UNIMPLEMENTED if the arguments cannot be passed to a kernel.
absl::Status CheckArguments(const spec::Specification& spec);

}  // namespace telemetry::worker::tune
