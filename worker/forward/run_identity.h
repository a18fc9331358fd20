#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/sidecar_row.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::forward {

// What the user says of runs whose dialect does not say it; empty: not said.
struct IdentityFlags {
  std::string kernel_name;
  std::string kernel_source;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  std::string settings_signature = "static_shapes=True";
};

// The run that a row belongs to, where the row itself does not name it (v1.1, pr2699): from its record where there is
// one, else from the flags. `record`: the run of the group's .meta.json, or null. FAILED_PRECONDITION: something is
// missing; the message names the flags that would help.
absl::StatusOr<v1::Run> RunOfRow(const record::SidecarRow& row, const v1::Run* record, const IdentityFlags& flags);

}  // namespace telemetry::forward
