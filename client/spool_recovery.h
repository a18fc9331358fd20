#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/file.h"
#include "client/segment.h"
#include "client/spool_meta.h"

namespace telemetry::client {

// What an earlier process left in a spool's folder, made fit for use.
struct RecoveredSpool {
  File lock = File();
  SpoolMeta meta = {};  // with this opening's epoch, already durable
  MetaFile meta_file;
  CommittedFile committed_file;
  std::vector<Segment> segments = {};  // in the order of their numbers; none is empty
  uint64_t last_seq = 0;
  uint64_t committed_seq = 0;
};

// Locks the folder (made when needed) and reads it. An unfinished last record is cut. A damaged file is kept under its
// name + ".damaged"; every whole record in it stays in the log. Each of these is said through `notice`.
// ALREADY_EXISTS: somebody has the folder. FAILED_PRECONDITION: written by a newer version. Else as in file.h.
absl::StatusOr<RecoveredSpool> RecoverSpool(const std::string& folder,
                                            const std::function<void(const std::string&)>& notice);

}  // namespace telemetry::client
