#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// Writes the kernel that the parameter `kernel` selects as the member `kernel`. Returns the key of its name. NOT_FOUND:
// no run has such a kernel.
absl::StatusOr<int64_t> WriteKernelName(const Call& call, json::JsonWriter& out);

}  // namespace telemetry::web::api
