#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::web::calls {

// Answers that took long to compute, for clients that ask the same again. The caller's keys contain the state of the
// data, so that an answer whose data has changed is not found again. Thread-safe.
class AnswerCache {
 public:
  struct Options {
    // The most bytes of keys and answers. The answers that were used last are kept.
    size_t most_bytes = size_t{16} << 20;
    // An answer that took less is not kept.
    absl::Duration least_time = absl::Milliseconds(5);
    // The time for which an answer is kept, in case that its key does not contain everything that it depends on.
    absl::Duration most_age = absl::Minutes(1);
  };
  using Compute = absl::FunctionRef<absl::StatusOr<std::string>()>;

  explicit AnswerCache(const Options& options) : options_(options) {}

  // Returns the kept answer of this key, or the result of `compute`. Blocks while another thread computes the answer of
  // the same key. Returns errors of `compute`, which are not kept.
  absl::StatusOr<std::string> Answer(const std::string& key, Compute compute) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the bytes of the kept keys and answers.
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::string key;
    std::string answer;
    SteadyTime until;
  };
  using Entries = std::list<Entry>;

  // Moves the answer to the front; nullptr: it is not kept.
  const Entry* Find(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const std::string& key, const std::string& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // the last used first
  absl::flat_hash_map<std::string, Entries::iterator> index_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> computing_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace telemetry::web::calls
