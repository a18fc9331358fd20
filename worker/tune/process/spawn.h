#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace telemetry::worker::tune::process {

// The environment variable that marks a process as a child.
inline constexpr char kChildVariable[] = "TELEMETRY_TUNE_CHILD";

// Starts a program with `arguments` (argv[0] first) as the leader of its own process group, with default signal
// handlers. fds[i] becomes its descriptor i; it has no others. Any thread may call it. UNAVAILABLE: the program cannot
// be started; the message contains the reason.
absl::StatusOr<pid_t> Spawn(const std::string& path, const std::vector<std::string>& arguments,
                            absl::Span<const int> fds);

}  // namespace telemetry::worker::tune::process
