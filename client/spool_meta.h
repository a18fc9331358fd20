#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/file.h"

namespace telemetry::client {

// The identity of a spool towards a collector.
struct SpoolMeta {
  std::string producer_id = {};  // 16 bytes; identifies the log
  uint64_t epoch = 0;            // increases with each opening of the spool
  // The log with this producer_id begins after this record: wire sequence number = local number - base_seq. Local
  // numbers never restart; a new log (another producer_id) only moves the base.
  uint64_t base_seq = 0;
  // The last local record that was found when the spool was opened; unset once the collector has answered. A collector
  // that has more records has seen records that this disk lost (a power cut), so their numbers must not be used again
  // in this log.
  std::optional<uint64_t> unproven_seq = std::nullopt;
  std::string dataset_id = {};  // database that acknowledged last; empty: none yet

  bool operator==(const SpoolMeta& other) const = default;
};

// Returns 16 random bytes.
std::string NewProducerId();
// Returns an epoch above `epoch`. Its upper 32 bits count the openings and its lower 32 bits are random, so that two
// copies of a spool that were opened equally often still have different epochs.
uint64_t NextEpoch(uint64_t epoch);

// One of the two slots of the file `meta`.
struct MetaSlot {
  uint64_t generation = 0;  // increases with each Store()
  SpoolMeta meta = {};

  bool operator==(const MetaSlot& other) const = default;
};

std::string EncodeMetaSlot(const MetaSlot& slot);
// Parses a slot. Errors: DATA_LOSS if it is damaged, FAILED_PRECONDITION if a newer version of this program wrote it.
absl::StatusOr<MetaSlot> DecodeMetaSlot(std::string_view bytes);

// The file `meta`. Its two slots are overwritten in turn. Storing therefore needs no space on a full disk, and after a
// crash or a power cut one slot holds either the old contents or the new. Not thread-safe.
class MetaFile {
 public:
  explicit MetaFile(std::string path) : path_(std::move(path)) {}

  // Reads the newest slot. Errors: NOT_FOUND if the file is missing, DATA_LOSS if neither slot can be read,
  // FAILED_PRECONDITION if a newer version of this program wrote it, else as in file.h. After an error Store() creates
  // a new file.
  absl::StatusOr<SpoolMeta> Load();
  // Returns true if Load() found one damaged slot. Load() then kept a copy of the file as PATH.damaged.
  bool slot_damaged() const { return slot_damaged_; }
  // Writes the older slot and calls fsync.
  absl::Status Store(const SpoolMeta& meta);

 private:
  std::string path_;
  File file_;
  bool slot_damaged_ = false;
  uint64_t generation_ = 0;  // of the last stored slot; its lowest bit selects the slot
};

// The file `committed`: the number of the last record that the collector is known to have acknowledged. It is
// overwritten in place and never fsynced. A stale, lost or damaged file is harmless, because the collector reports
// where to resume. Not thread-safe.
class CommittedFile {
 public:
  static absl::StatusOr<CommittedFile> Open(const std::string& path);
  // Returns the number that the file held when it was opened, or 0 if it held no readable number.
  uint64_t stored_seq() const { return stored_seq_; }
  // Returns true if the contents were damaged. Open() then kept a copy as PATH.damaged.
  bool damaged() const { return damaged_; }
  absl::Status Store(uint64_t local_seq);

 private:
  explicit CommittedFile(File file) : file_(std::move(file)) {}

  File file_;
  uint64_t stored_seq_ = 0;
  bool damaged_ = false;
};

}  // namespace telemetry::client
