#include "worker/tune/spec_task.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/device/open_device.h"
#include "worker/spec/specification.h"
#include "worker/tune/spec_subject.h"

namespace telemetry::worker::tune {
namespace {

void ApplyBudget(const spec::Specification& spec, TunerOptions* tuner) {
  if (spec.max_configs && !tuner->search.max_configs) {
    tuner->search.max_configs = static_cast<int>(std::min<int64_t>(*spec.max_configs, std::numeric_limits<int>::max()));
  }
  if (spec.max_seconds && tuner->time_budget == absl::InfiniteDuration()) {
    tuner->time_budget = absl::Seconds(*spec.max_seconds);
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<device::Device>> DeviceForSpec(const spec::Specification& spec, const std::string& id) {
  if (!id.empty()) return device::OpenDevice(id);
  for (const device::DeviceProperties& properties : device::ListDevices()) {
    if (properties.dialect == spec.dialect) return device::OpenDevice(device::DeviceId(properties));
  }
  const bool is_cuda = spec.dialect == device::Dialect::kCuda;
  return absl::NotFoundError(record::Cat(spec.path, ": the kernel is written in ", is_cuda ? "CUDA" : "OpenCL",
                                         ", and this machine has no such device"));
}

absl::StatusOr<TaskResult> RunSpec(TuneSession& session, const std::string& path, const std::string& device,
                                   TunerOptions tuner, const AttemptRules& rules) {
  ASSIGN_OR_RETURN(spec::Specification read, spec::ReadSpecification(path));
  const auto spec = std::make_shared<const spec::Specification>(std::move(read));
  ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> opened, DeviceForSpec(*spec, device));
  ApplyBudget(*spec, &tuner);
  ASSIGN_OR_RETURN(SpecSubject subject, MakeSpecSubject(spec, opened, tuner.processes.measure.on_step));
  return session.Tune(subject.subject, std::move(subject.info), std::move(tuner), rules);
}

}  // namespace telemetry::worker::tune
