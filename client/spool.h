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

// Consecutive records as they lie in the spool.
struct SpoolBatch {
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;      // first_seq - 1: no records
  uint64_t end_position = 0;  // log position behind the last record
  std::string frames = {};    // whole and undamaged, so that they can be walked without further checks

  bool empty() const { return last_seq < first_seq; }
};

struct SpoolState {
  uint64_t appended_seq = 0;
  uint64_t durable_seq = 0;  // forced to the disk, or acknowledged and no longer this disk's concern
  uint64_t committed_seq = 0;
  uint64_t appended_bytes = 0;  // log position: counts all bytes that this object has seen
  uint64_t unacked_bytes = 0;
};

// A producer's log on disk: segment files to which records are appended and which are removed when the collector has
// acknowledged all that is in them (SPOOL_FORMAT.md). Sequence numbers here are local: dense from 1 over the life of
// the folder. What the collector calls a number is local - meta().base_seq.
//
// Append and Sync: any thread. Read, SetCommitted, StartNewLog and Prove: the one thread that delivers (they may run
// beside Append and Sync). A record for which Append returned survives the end of the process at any moment; after Sync
// also a power cut.
class Spool {
 public:
  struct Options {
    std::string folder;
    uint64_t segment_bytes = uint64_t{16} << 20;  // a new file begins above this size
    std::function<void(const std::string&)> on_notice;
  };

  // Takes the folder, cuts an unfinished last record, sets damaged files aside (and says so) and bumps the epoch
  // durably. ALREADY_EXISTS: somebody has it. FAILED_PRECONDITION: written by a newer version. Else as in file.h.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(Options options);

  // Appends all of the frames or none; returns the number of the last. Errors as in file.h; the call may be tried
  // again. RESOURCE_EXHAUSTED: the disk is full; acknowledgements make room.
  absl::StatusOr<uint64_t> Append(FrameBuffer* frames);

  // Forces everything appended so far and not yet acknowledged to the disk. After a failure it fails until what was
  // affected is acknowledged: the system reports a lost write once only.
  absl::Status Sync();

  // Records from `from_seq` on, up to about max_bytes, at least one where there is one. A batch that begins above
  // from_seq says that the records between are damaged; it may be empty when nothing follows them.
  absl::StatusOr<SpoolBatch> Read(uint64_t from_seq, size_t max_bytes);

  // Everything up to `seq` (at most appended_seq) is acknowledged, and nothing above.
  absl::Status SetCommitted(uint64_t seq);

  // The lowest number that is still there; appended_seq + 1: none.
  uint64_t first_available_seq() const;

  // From now on this is another log, with a producer_id of its own, in which base_seq + 1 has number 1. Durable.
  absl::Status StartNewLog(uint64_t base_seq, const std::string& dataset_id);
  // The collector's answer fits what is here. Durable.
  absl::Status Prove(const std::string& dataset_id);

  SpoolMeta meta() const;
  SpoolState state() const;

 private:
  struct LiveSegment {
    Segment segment = {};
    uint64_t synced_end = 0;
    bool sync_failed = false;
    bool active = false;  // records may still be appended
  };
  struct Mark {
    uint64_t seq = 0;
    uint64_t position = 0;  // behind the record
  };

  Spool(Options options, RecoveredSpool recovered);

  absl::Status StoreMeta(SpoolMeta meta) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);

  absl::Status RollSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_);
  absl::Status WriteFrames(FrameBuffer* frames) ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_);
  void CloseActive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(append_mu_) ABSL_LOCKS_EXCLUDED(mu_);
  // Removes the files that are acknowledged as a whole; false: there were none.
  bool RemoveCommitted() ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Segment> FindSegment(uint64_t seq) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<uint64_t> PositionBefore(uint64_t seq) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);
  absl::StatusOr<SpoolBatch> ReadPastDamage(const Segment& segment, uint64_t from_seq, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);
  void Remember(const Segment& segment, uint64_t end, SpoolBatch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reader_mu_);

  const Options options_;
  const File lock_;

  // Lock order: append_mu_ or sync_mu_ or reader_mu_, then mu_. mu_ is never held over a file operation.
  absl::Mutex append_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  std::shared_ptr<File> active_file_ ABSL_GUARDED_BY(append_mu_);
  uint32_t active_salt_ ABSL_GUARDED_BY(append_mu_) = 0;
  uint64_t active_end_ ABSL_GUARDED_BY(append_mu_) = 0;
  uint64_t next_seq_ ABSL_GUARDED_BY(append_mu_) = 1;

  absl::Mutex sync_mu_ ABSL_ACQUIRED_BEFORE(mu_);

  mutable absl::Mutex reader_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  SpoolMeta meta_ ABSL_GUARDED_BY(reader_mu_);
  MetaFile meta_file_ ABSL_GUARDED_BY(reader_mu_);
  CommittedFile committed_file_ ABSL_GUARDED_BY(reader_mu_);
  std::deque<Mark> marks_ ABSL_GUARDED_BY(reader_mu_);   // ends of the batches that were read, for SetCommitted
  uint64_t cursor_seq_ ABSL_GUARDED_BY(reader_mu_) = 0;  // Read goes on here without searching; 0: nowhere
  uint64_t cursor_offset_ ABSL_GUARDED_BY(reader_mu_) = 0;
  std::string cursor_path_ ABSL_GUARDED_BY(reader_mu_);

  mutable absl::Mutex mu_;
  std::vector<LiveSegment> segments_ ABSL_GUARDED_BY(mu_);
  bool folder_changed_ ABSL_GUARDED_BY(mu_) = false;  // a file was made since the folder was forced to the disk
  bool seal_active_ ABSL_GUARDED_BY(mu_) = false;     // the active segment is not to be trusted with more records
  uint64_t appended_seq_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t durable_seq_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t committed_seq_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t appended_position_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t committed_position_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace telemetry::client
