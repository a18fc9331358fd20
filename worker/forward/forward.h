#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "worker/forward/group_forwarder.h"
#include "worker/forward/job_deliveries.h"
#include "worker/forward/job_folder.h"

namespace telemetry::worker::forward {

// The settings of serving job folders (ForwardOptions::jobs).
struct JobOptions {
  // ForwardAndWatch() returns when no process has written to a job folder for this long, every job folder is delivered
  // and removed, and no process holds one.
  absl::Duration idle_limit = absl::Seconds(30);
  // ForwardAndWatch() also returns when the last process has ended this long ago, whatever is left.
  absl::Duration delivery_limit = absl::Minutes(10);
  SinkProgress progress;
  // Lock of the only path. ForwardAndWatch() holds the lock when it returns because of idle_limit, so that no process
  // relies on this forwarder until the caller has closed the spool.
  StartLock* start_lock = nullptr;
};

// The settings of a forwarding.
struct ForwardOptions {
  std::vector<std::string> paths;
  std::string origin;
  IdentityFlags identity;
  // Set: `paths` is one folder of job folders. Their files are removed when the process that writes them has ended and
  // the collector has acknowledged their records.
  std::optional<JobOptions> jobs;
  // Interval at which --watch checks all files without a report of a change. Network file systems do not report
  // changes.
  absl::Duration rescan_interval = absl::Seconds(10);
  // Called before each check of the files. Returns true if all records must be sent again from the start, because the
  // collector has another dataset.
  std::function<bool()> start_again;
  // Called once for each problem of ForwardResult, as soon as it occurs.
  std::function<void(const std::string&)> on_problem;
  // Called after each group that was read, with the number of groups read, the number of all groups, and the counts so
  // far.
  std::function<void(size_t, size_t, const ForwardCounts&)> on_progress;
};

// The result of a forwarding.
struct ForwardResult {
  size_t groups = 0;
  ForwardCounts counts;
  // Refused rows, unreadable files and paths without a sidecar, each a line for a person.
  std::vector<std::string> problems;
};

// Reads every sidecar below the paths once and passes its records to the sink. A group that cannot be read becomes a
// problem in the result, and the others continue. An error is an error of the sink.
absl::StatusOr<ForwardResult> ForwardOnce(const ForwardOptions& options, const RecordSink& sink);

// Does the same and then follows growing and new files until stop_fd is readable, or until a limit of JobOptions. Then
// it treats all files as complete.
absl::StatusOr<ForwardResult> ForwardAndWatch(const ForwardOptions& options, int stop_fd, const RecordSink& sink);

}  // namespace telemetry::worker::forward
