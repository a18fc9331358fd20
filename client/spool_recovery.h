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

// The contents of a spool's folder after recovery.
struct RecoveredSpool {
  File lock = File();
  SpoolMeta meta = {};  // has the epoch of this opening, which is already durable
  MetaFile meta_file;
  CommittedFile committed_file;
  std::vector<Segment> segments = {};  // ordered by number; none is empty
  uint64_t last_seq = 0;
  uint64_t committed_seq = 0;
};

// Locks the folder, which is created if missing, and reads it. Truncates an incomplete last record. Keeps a damaged
// file under its name + ".damaged"; every intact record in it stays in the log. Reports each of these through `notice`.
// Errors: ALREADY_EXISTS if the folder is locked, FAILED_PRECONDITION if a newer version wrote it, else as in file.h.
absl::StatusOr<RecoveredSpool> RecoverSpool(const std::string& folder,
                                            const std::function<void(const std::string&)>& notice);

}  // namespace telemetry::client
