#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/sidecar/row.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::worker::forward {

// The user's description of runs for dialects that do not contain it. Empty fields are not given.
struct IdentityFlags {
  std::string kernel_name;
  std::string kernel_source;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  std::string settings_signature = "static_shapes=True";
};

// Returns the run of a row that does not name it (v1.1, pr2699): from `record`, the run of the group's .meta.json, or,
// if that is null, from the flags. Returns FAILED_PRECONDITION if information is missing; the message names the flags
// to give.
absl::StatusOr<v1::Run> RunOfRow(const record::sidecar::Row& row, const v1::Run* record, const IdentityFlags& flags);

}  // namespace telemetry::worker::forward
