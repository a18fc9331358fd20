#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/file.h"
#include "client/frame_buffer.h"
#include "client/segment.h"
#include "client/spool_meta.h"
#include "client/spool_recovery.h"

namespace telemetry::client {

// Consecutive records in the spool's encoding.
struct SpoolBatch {
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;      // first_seq - 1: no records
  uint64_t end_position = 0;  // log position after the last record
  std::string frames = {};    // intact frames, which can be read without further checks

  bool empty() const { return last_seq < first_seq; }
};

// Sequence numbers and sizes of a spool. Each number is that of the last record with the property.
struct SpoolState {
  uint64_t appended_seq = 0;
  uint64_t durable_seq = 0;  // fsynced, or acknowledged and therefore durable at the collector
  uint64_t committed_seq = 0;
  uint64_t appended_bytes = 0;  // log position: all bytes that this object has found or appended
  uint64_t unacked_bytes = 0;
};

// A producer's log on disk. It consists of segment files, to which records are appended and which are removed when the
// collector has acknowledged all their records (SPOOL_FORMAT.md). Sequence numbers here are local: dense, from 1, over
// the lifetime of the folder. The number on the wire is the local number - meta().base_seq.
//
// Append() and Sync() may be called from any thread. Read(), SetCommitted(), StartNewLog() and Prove() are for the one
// delivering thread, concurrently with Append() and Sync(). A record for which Append() returned survives the end of
// the process at any moment. After Sync() it also survives a power cut.
class Spool {
 public:
  // The settings of a Spool.
  struct Options {
    std::string folder;
    uint64_t segment_bytes = uint64_t{16} << 20;  // Append() starts a new file above this size
    std::function<void(const std::string&)> on_notice;
  };

  // Locks the folder, truncates an incomplete last record, sets damaged files aside (reported through on_notice) and
  // durably increments the epoch. Errors: ALREADY_EXISTS if the folder is locked, FAILED_PRECONDITION if a newer
  // version wrote it, else as in file.h.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(Options options);

  // Appends all of the frames, or none on an error. Returns the number of the last frame. Errors as in file.h; the call
  // may be retried. RESOURCE_EXHAUSTED means that the disk is full; acknowledgements free space.
  absl::StatusOr<uint64_t> Append(FrameBuffer* frames);

  // Calls fsync on all files with unacknowledged records. After a failure the call fails until the affected records are
  // acknowledged, because the system reports a lost write only once.
  absl::Status Sync();

  // Returns records from `from_seq` on, up to about max_bytes, and at least one record if there is one. A batch that
  // begins above from_seq means that the records between are damaged; such a batch is empty if no record follows them.
  absl::StatusOr<SpoolBatch> Read(uint64_t from_seq, size_t max_bytes);

  // Marks every record up to `seq` (at most appended_seq) as acknowledged, and none above.
  absl::Status SetCommitted(uint64_t seq);

  // Returns the lowest number in the spool, or appended_seq + 1 if the spool is empty.
  uint64_t first_available_seq() const;

  // Starts a new log with a new producer_id, in which the record base_seq + 1 has number 1. Durable on return.
  absl::Status StartNewLog(uint64_t base_seq, const std::string& dataset_id);
  // Confirms that the collector's answer is consistent with this spool, and clears unproven_seq. Durable on return.
  absl::Status Prove(const std::string& dataset_id);

  SpoolMeta meta() const;
  SpoolState state() const;

 private:
  // A segment that has unacknowledged records or is appended to.
  struct LiveSegment {
    Segment segment = {};
    uint64_t synced_end = 0;
    bool sync_failed = false;
    bool active = false;  // true: Append() may add records
  };
  // The end of a batch that was read.
  struct Mark {
    uint64_t seq = 0;
    uint64_t position = 0;  // log position after the record
  };

  Spool(Options options, RecoveredSpool recovered);

  absl::Status StoreMeta(SpoolMeta meta) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);

  absl::Status RollSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_);
  absl::Status WriteFrames(FrameBuffer* frames) ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_);
  void CloseActive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_) ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes the files in which every record is acknowledged; returns false if there are none.
  bool RemoveCommitted() ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<Segment> FindSegment(uint64_t seq) const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<uint64_t> PositionBefore(uint64_t seq) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);
  absl::StatusOr<SpoolBatch> ReadPastDamage(const Segment& segment, uint64_t from_seq, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);
  void Remember(const Segment& segment, uint64_t end, SpoolBatch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);

  const Options options_;
  const File lock_;

  // Lock order: append_mu_ or sync_mu_ or reader_mu_, then mutex_. mutex_ is never held over a file operation.
  absl::Mutex append_mu_ ABSL_ACQUIRED_BEFORE(mutex_);
  std::shared_ptr<File> active_file_ ABSL_GUARDED_BY(append_mu_);
  uint32_t active_salt_ ABSL_GUARDED_BY(append_mu_) = 0;
  uint64_t active_end_ ABSL_GUARDED_BY(append_mu_) = 0;
  uint64_t next_seq_ ABSL_GUARDED_BY(append_mu_) = 1;

  absl::Mutex sync_mu_ ABSL_ACQUIRED_BEFORE(mutex_);

  mutable absl::Mutex reader_mu_ ABSL_ACQUIRED_BEFORE(mutex_);
  SpoolMeta meta_ ABSL_GUARDED_BY(reader_mu_);
  MetaFile meta_file_ ABSL_GUARDED_BY(reader_mu_);
  CommittedFile committed_file_ ABSL_GUARDED_BY(reader_mu_);
  std::deque<Mark> marks_ ABSL_GUARDED_BY(reader_mu_);   // ends of the batches that were read, used by SetCommitted()
  uint64_t cursor_seq_ ABSL_GUARDED_BY(reader_mu_) = 0;  // next record that Read() can return without a search; 0: none
  uint64_t cursor_offset_ ABSL_GUARDED_BY(reader_mu_) = 0;
  std::string cursor_path_ ABSL_GUARDED_BY(reader_mu_);

  mutable absl::Mutex mutex_;
  std::vector<LiveSegment> segments_ ABSL_GUARDED_BY(mutex_);
  bool folder_changed_ ABSL_GUARDED_BY(mutex_) = false;  // a file was created since the folder's last fsync
  bool seal_active_ ABSL_GUARDED_BY(mutex_) = false;     // no more records may be appended to the active segment
  uint64_t appended_seq_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t durable_seq_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t committed_seq_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t appended_position_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t committed_position_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace telemetry::client
