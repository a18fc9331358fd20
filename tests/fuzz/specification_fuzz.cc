// Fuzzes T1 files: any file is refused with a message, or its space and the launch of its first config are computed or
// refused within limits.

#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "worker/spec/constrained_space.h"
#include "worker/spec/launch_size.h"
#include "worker/spec/specification.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::worker::spec;
  using telemetry::fuzz::Require;
  const absl::StatusOr<Specification> spec =
      ParseSpecification(std::string_view(reinterpret_cast<const char*>(data), size), "spec.json");
  if (!spec.ok()) return 0;
  const absl::StatusOr<ConstrainedSpace> space =
      ConstrainedSpace::Create(*spec, {.operations = 1'000'000, .memory_bytes = 1 << 20});
  if (!space.ok()) return 0;
  for (const int64_t index : {int64_t{0}, space->size() / 2, space->size() - 1}) {
    const std::vector<size_t> config = space->ConfigAt(index);
    Require(space->Find(config) == index, "a config has its index");
    const absl::StatusOr<LaunchSize> launch = LaunchSizeOf(spec->launch, spec->ValuesAt(config));
    if (launch.ok()) Require(launch->threads_per_block() > 0, "a block has threads");
  }
  return 0;
}
