#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/file.h"

namespace telemetry::client {

// Who this spool is to a collector.
struct SpoolMeta {
  std::string producer_id = {};  // 16 bytes: names the log
  uint64_t epoch = 0;            // grows with each opening of the spool
  // The log that producer_id names begins behind this record: wire sequence number = local one - base_seq. Local
  // numbers never start anew; a new log (another producer_id) only moves the base.
  uint64_t base_seq = 0;
  // Set from an opening of the spool until the collector has answered it: the last local record that was found then.
  // A collector that has more saw records which this disk has lost since (a power cut), so their numbers must not be
  // used again in this log.
  std::optional<uint64_t> unproven_seq = std::nullopt;
  std::string dataset_id = {};  // the database that acknowledged last; empty: none yet

  bool operator==(const SpoolMeta& other) const = default;
};

// 16 bytes that nobody else has.
std::string NewProducerId();
// An epoch above `epoch`. Its upper 32 bits count the openings and its lower ones are random, so that of two copies of
// a spool which are opened equally often one has the higher epoch.
uint64_t NextEpoch(uint64_t epoch);

// One of the two records in the file `meta`.
struct MetaSlot {
  uint64_t generation = 0;  // grows with each time that the meta is stored
  SpoolMeta meta = {};

  bool operator==(const MetaSlot& other) const = default;
};

std::string EncodeMetaSlot(const MetaSlot& slot);
// DATA_LOSS: damaged. FAILED_PRECONDITION: written by a newer version of this program.
absl::StatusOr<MetaSlot> DecodeMetaSlot(std::string_view bytes);

// The file `meta`: two slots that are overwritten in turn, so that storing needs no room on a disk that is full, and
// after a crash or a power cut one of them holds the old contents or the new. Not thread-safe.
class MetaFile {
 public:
  explicit MetaFile(std::string path) : path_(std::move(path)) {}

  // NOT_FOUND: there is none. DATA_LOSS: neither slot can be read. FAILED_PRECONDITION: written by a newer version of
  // this program. Else as in file.h. After an error Store makes a new file.
  absl::StatusOr<SpoolMeta> Load();
  // Load found one of the slots damaged; what the file held is kept as PATH.damaged.
  bool slot_damaged() const { return slot_damaged_; }
  // Durable when it returns OK.
  absl::Status Store(const SpoolMeta& meta);

 private:
  std::string path_;
  File file_;
  bool slot_damaged_ = false;
  uint64_t generation_ = 0;  // of the last slot that was stored; its lowest bit names the slot
};

// How far the collector is known to have acknowledged: the file `committed`, overwritten in place and never forced to
// the disk. It may lag, and lost or damaged it does no harm: the collector says where to go on.
// Not thread-safe.
class CommittedFile {
 public:
  static absl::StatusOr<CommittedFile> Open(const std::string& path);
  // What the file held when it was opened; 0 where it held nothing readable.
  uint64_t stored_seq() const { return stored_seq_; }
  // It held something unreadable, which is kept as PATH.damaged.
  bool damaged() const { return damaged_; }
  absl::Status Store(uint64_t local_seq);

 private:
  explicit CommittedFile(File file) : file_(std::move(file)) {}

  File file_;
  uint64_t stored_seq_ = 0;
  bool damaged_ = false;
};

}  // namespace telemetry::client
