#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// Writes `shapes`, `devices` and `cells` of the kernel with this key of its name.
absl::Status WriteMatrix(const Call& call, int64_t name, json::JsonWriter& out);

}  // namespace telemetry::web::api
