#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::writer {

// The producers that were part of a transaction lately and will probably send again soon, and how long a transaction
// waits for them. A producer sends a fixed time after its last Ack. Producers whose batches were committed together
// therefore send together again, and cost one commit.
//
// A transaction that lacks most of them waits longer than one that lacks few. Two groups that send at different times
// thus have different periods, and meet after a few of them; with equal waits they would stay apart. Not thread-safe.
class ExpectedProducers {
 public:
  // A producer is expected for this time after its last transaction, which is longer than it needs to send again.
  static constexpr absl::Duration kFor = absl::Milliseconds(25);
  // The waits for few and for all of them. The shorter one exceeds the time in which a group sends.
  static constexpr absl::Duration kShortestWait = absl::Milliseconds(1);
  static constexpr absl::Duration kLongestWait = absl::Milliseconds(4);

  void Add(const std::string& producer_id, SteadyTime now);
  // Removes those that were added more than kFor before `now`.
  void Forget(SteadyTime now);
  size_t size() const { return added_.size(); }
  // Returns how long after its first batch a transaction with `batches` batches waits for more.
  absl::Duration WaitWith(size_t batches) const;

 private:
  absl::flat_hash_map<std::string, SteadyTime> added_;
};

}  // namespace telemetry::writer
