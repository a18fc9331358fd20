#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/base/steady.h"
#include "worker/forward/group_forwarder.h"

namespace telemetry::worker::forward {

// All files that have or had the names of one base path. After a log rotation, which renames the files within their
// folder, they are read on, and the new files are read beside them. Before a fourth set of files is read, the oldest
// one is treated as complete. A forwarder that starts later does not find renamed files. Not thread-safe.
class SidecarGroup {
 public:
  // Parameters as those of GroupForwarder.
  SidecarGroup(SidecarFiles files, std::string origin, IdentityFlags identity, RecordSink sink);

  // Same as the methods of GroupForwarder.
  absl::Status Advance();
  absl::Status Finish();
  const SidecarFiles& files() const { return files_; }
  // Returns the bytes of the files that have the names now.
  std::map<std::string, uint64_t> bytes_read() const { return generations_.back()->bytes_read(); }
  ForwardCounts counts() const;
  std::string refusal() const;

 private:
  void AddGeneration();
  // Returns true if the files that have the names now are others than those of the newest generation.
  bool IsRotated();
  // Finishes the oldest generation and keeps only its counts.
  absl::Status RetireOldest();

  const SidecarFiles files_;
  const std::string origin_;
  const IdentityFlags identity_;
  const RecordSink sink_;
  std::deque<std::unique_ptr<GroupForwarder>> generations_;  // of the files, the oldest one first; never empty
  SteadyTime in_part_since_ = kNever;                        // begin of a rotation that is not complete
  ForwardCounts retired_counts_;
};

}  // namespace telemetry::worker::forward
