#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "worker/forward/group_forwarder.h"

namespace telemetry::forward {

struct ForwardOptions {
  std::vector<std::string> paths;
  std::string origin;
  IdentityFlags identity;
  // How often --watch looks at everything even though nothing was reported (a network file system reports nothing).
  absl::Duration rescan_interval = absl::Seconds(10);
  // Asked before each look at the files; true: what was handed over so far is wanted again, from the start (the
  // collector has another dataset).
  std::function<bool()> start_again;
  // Called once for each problem of ForwardResult as soon as it arises.
  std::function<void(const std::string&)> on_problem;
  // Called after each group that was read, with the groups read so far, all of them, and the counts so far.
  std::function<void(size_t, size_t, const ForwardCounts&)> on_progress;
};

struct ForwardResult {
  size_t groups = 0;
  ForwardCounts counts;
  // Refused rows, files that could not be read and paths without a sidecar, each a line for a person.
  std::vector<std::string> problems;
};

// Reads every sidecar below the paths once and hands its records to the sink. A group that cannot be read is a problem
// in the result and the others go on; an error is the sink's.
absl::StatusOr<ForwardResult> ForwardOnce(const ForwardOptions& options, const RecordSink& sink);

// The same, then follows the files as they grow and new ones as they come, until stop_fd is readable. Then all of them
// count as complete.
absl::StatusOr<ForwardResult> ForwardAndWatch(const ForwardOptions& options, int stop_fd, const RecordSink& sink);

}  // namespace telemetry::forward
