#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/batch/parsed_batch.h"
#include "server/call/limits.h"
#include "server/storage/store.h"

namespace telemetry::writer {

// The batches that wait for the writer. The queue chooses those of the next transaction so that senders do not delay
// each other. Not thread-safe.
//
// Producers with few queued records are light. They take turns with the others, so that they wait for at most one
// transaction of others. While light batches come among those of other senders, transactions are limited to what the
// writer has lately committed in about 4 ms.
//
// A batch above kShortPiece cannot be divided: mostly it is a single record. While light batches come, such a batch has
// a transaction of its own; after one that took the writer more than 2 ms, the next waits 100 times as long, and after
// one of more than 8 ms 200 times (at most 30 s), so that few light batches meet a long one. The later batches of its
// producer wait behind it.
class BatchQueue {
 public:
  // Work that delays light batches is followed by a pause of this multiple of its time, so that it takes at most 1% of
  // the writer's time.
  static constexpr int kPauses = 100;

  // Called after the commit. Must not block.
  using CommitDone = std::function<void(storage::BatchOutcome outcome)>;
  struct Entry {
    std::string sender;  // as sender.h defines it
    std::unique_ptr<batch::ParsedBatch> batch;
    CommitDone done;
  };

  using Clock = std::function<SteadyTime()>;
  explicit BatchQueue(const call::Limits& limits, Clock now = SteadyNow);

  void Add(Entry entry);
  // Returns the batches of the next transaction: at least one if IsReady(), otherwise none. The batches of one producer
  // keep their order.
  std::vector<Entry> Take();
  // Tells how long the transaction of the batches that Take() returned last took, and the housekeeping after it.
  void AddCommit(absl::Duration commit, absl::Duration tidying);
  // Empties the queue.
  std::vector<Entry> TakeAll();

  // Returns true while transactions should be short, because light batches come among those of other senders.
  bool IsUrgent() const { return now_() < urgent_until_; }
  bool empty() const { return ready_.empty() && held_.empty(); }
  bool IsReady() const { return ready_at() <= now_(); }
  // The time at which a batch can be taken; kNever: the queue is empty.
  SteadyTime ready_at() const;
  // The batches that can be taken at once, and their records as the writer counts them (record_weight.h).
  size_t ready_batches() const { return ready_.size(); }
  uint64_t ready_rows() const { return queued_.rows; }

 private:
  // The writer's cost of batches, or a limit on it.
  struct Work {
    uint64_t rows = 0;
    uint64_t bytes = 0;

    Work operator+(const Work& other) const { return {rows + other.rows, bytes + other.bytes}; }
    Work& operator+=(const Work& other) { return *this = *this + other; }
    Work& operator-=(const Work& other) { return *this = {rows - other.rows, bytes - other.bytes}; }
    bool FitsIn(const Work& limit) const { return rows <= limit.rows && bytes <= limit.bytes; }
  };
  static Work CountWork(const Entry& entry) { return {entry.batch->rows(), entry.batch->bytes()}; }
  static bool IsIndivisible(const Entry& entry);
  // The batches of the next transaction.
  struct Group {
    Work limit;
    std::vector<Entry> entries;
    Work work;
    absl::flat_hash_map<std::string, Work> of_producers;
    absl::flat_hash_map<std::string, Work> of_senders;
  };
  struct Shares {
    Work of_producer;
    Work of_sender;
  };
  struct Rule {
    bool light_only = false;  // take only batches of light producers
    // Take the first batch regardless of its size, and the first batch of each sender if the group has room.
    bool firsts = false;
  };
  enum class Kind { kWhole, kUrgent, kIndivisible };

  // Returns true if batches of another sender are queued or were the last to come.
  bool ComesAmongOthers(const std::string& sender) const;
  // Returns true if the queued batches of the producer are small in total.
  bool IsLight(const std::string& producer_id) const;
  void AddReady(Entry entry);
  // Makes the held batches of the producer ready, up to the next indivisible one.
  void ReleaseBehind(const std::string& producer_id);
  void ReleaseAll();
  // Returns the held batch to be taken next, or end(): the first one of a sender other than the last one's, if
  // possible.
  std::deque<Entry>::iterator FindHeld();
  std::vector<Entry> TakeHeld(const std::deque<Entry>::iterator& held);
  std::vector<Entry> TakeReady(const Work& limit);
  // Moves ready batches to the group, in order, as far as the shares and the group have room.
  void TakeShares(const Shares& shares, const Rule& rule, Group& group);

  SteadyTime After(absl::Duration duration) const { return now_() + absl::ToChronoNanoseconds(duration); }

  const Work largest_;
  const Clock now_;
  std::deque<Entry> ready_;
  std::deque<Entry> held_;  // indivisible batches that came while IsUrgent(), and later ones of their producers
  absl::flat_hash_map<std::string, size_t> held_of_;  // number of held batches by producer
  Work queued_;                                       // work of ready_
  absl::flat_hash_map<std::string, Work> queued_of_;  // the same by producer
  std::string last_sender_;                           // sender of the newest batch
  SteadyTime urgent_until_{};                         // light batches come until this time
  uint64_t urgent_rows_;                              // the limit of a transaction while light batches come
  SteadyTime rise_at_{};                              // the time from which the limit may rise
  Kind last_kind_ = Kind::kWhole;                     // of the last transaction
  uint64_t last_rows_ = 0;                            // of the last transaction without indivisible batches
  bool only_light_last_ = false;
  SteadyTime indivisible_at_{};        // the time from which the next indivisible batch may be taken
  std::string last_indivisible_from_;  // its sender
};

}  // namespace telemetry::writer
