#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace telemetry::worker::tune {

// Set for children, so that they know that they are.
inline constexpr char kChildVariable[] = "TELEMETRY_TUNE_CHILD";

// Starts a program with `arguments` (argv[0] first) as the leader of a process group of its own, with all signals as
// they are by default. fds[i] becomes its descriptor i; it has no other. Any thread. UNAVAILABLE: says why not.
absl::StatusOr<pid_t> Spawn(const std::string& path, const std::vector<std::string>& arguments,
                            absl::Span<const int> fds);

}  // namespace telemetry::worker::tune
