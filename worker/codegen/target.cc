#include "worker/codegen/target.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::codegen {

Target Target::For(const device::DeviceProperties& device) {
  Target target = {.dialect = device.dialect,
                   .compute_units = std::max(device.compute_units, 1),
                   .max_threads_per_block = device.max_threads_per_block,
                   .shared_bytes_per_block = device.shared_bytes_per_block};
  std::string_view architecture = device.architecture;
  if (record::TakePrefix("sm_", &architecture)) target.sm = std::atoi(std::string(architecture).c_str());
  return target;
}

absl::StatusOr<Target> Target::ForArchitecture(std::string_view architecture) {
  Target target = {.dialect = device::Dialect::kCuda};
  std::string_view digits = architecture;
  const bool is_specific = digits.ends_with('a');
  if (is_specific) digits.remove_suffix(1);
  if (!record::TakePrefix("sm_", &digits) || !absl::SimpleAtoi(record::AbslView(digits), &target.sm) ||
      target.sm < (is_specific ? 90 : 80)) {
    return absl::InvalidArgumentError(
        record::Cat(architecture, ": expected sm_80 or a later one, as in sm_90 or sm_90a"));
  }
  target.compute_units = target.sm >= 90 ? 132 : 108;
  target.shared_bytes_per_block = size_t{target.sm >= 90 ? 227u : 163u} << 10;
  return target;
}

bool HasWgmma(const Target& target) { return target.dialect == device::Dialect::kCuda && target.sm == 90; }

}  // namespace telemetry::worker::codegen
