#include "worker/spec/kernel_launch.h"

#include "proto/base/status_macros.h"
#include "worker/spec/element_type.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

int64_t LocalArgumentBytes(const Specification& spec) {
  if (spec.arguments.empty() || spec.arguments.back().memory != Argument::Memory::kLocal) return 0;
  const Argument& argument = spec.arguments.back();
  return argument.values() * static_cast<int64_t>(SizeOf(argument.type.element));
}

absl::StatusOr<LaunchSize> KernelLaunch(const Specification& spec, const LaunchExpressions& launch,
                                        const DeclaredBlock& declared, const std::vector<size_t>& config,
                                        const LaunchLimits& limits) {
  const std::vector<Value> values = spec.ValuesAt(config);
  ASSIGN_OR_RETURN(LaunchSize size, LaunchSizeOf(launch, values));
  RETURN_IF_ERROR(declared.Check(size, values));
  const int64_t local_bytes = LocalArgumentBytes(spec);
  LaunchSize all = size;
  all.shared_bytes += local_bytes;
  RETURN_IF_ERROR(CheckLimits(all, limits));
  // OpenCL has no other dynamic local memory than that of arguments. There, SharedMemory says what the kernel declares.
  if (spec.dialect == device::Dialect::kOpenCl) size.shared_bytes = local_bytes;
  return size;
}

device::LaunchShape ToLaunchShape(const LaunchSize& size) {
  return {.grid = size.grid[0],
          .threads = static_cast<int>(size.threads[0]),
          .shared_bytes = static_cast<size_t>(size.shared_bytes),
          .grid_y = size.grid[1],
          .grid_z = size.grid[2],
          .threads_y = static_cast<int>(size.threads[1]),
          .threads_z = static_cast<int>(size.threads[2])};
}

}  // namespace telemetry::worker::spec
