#include "worker/codegen/architecture.h"

#include "absl/strings/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::codegen {

absl::StatusOr<Target> TargetOfArchitecture(std::string_view architecture) {
  Target target = {.dialect = Dialect::kCuda};
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

}  // namespace telemetry::worker::codegen
