#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/spec/specification.h"
#include "worker/tune/tune_session.h"

namespace telemetry::worker::tune {

// Opens a device: `id` is an argument of OpenDevice; "": the first device that compiles the specification's language.
// Returns the errors of OpenDevice. NOT_FOUND: no device compiles the language.
absl::StatusOr<std::shared_ptr<device::Device>> DeviceForSpec(const spec::Specification& spec, const std::string& id);

// Tunes the kernel of a T1 specification. `device` is the id for DeviceForSpec. The specification's budget is used
// where `tuner` has no limit. Returns the errors of ReadSpecification, DeviceForSpec, MakeSpecSubject and
// TuneSession::Tune.
absl::StatusOr<TaskResult> RunSpec(TuneSession& session, const std::string& path, const std::string& device,
                                   TunerOptions tuner, const AttemptRules& rules = {});

}  // namespace telemetry::worker::tune
