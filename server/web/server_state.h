#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/access/token_watch.h"
#include "server/web/summary/refresher.h"

namespace telemetry::web {

// The numbers of objects of a dataset. They are counted less often than the summaries.
struct DatasetSizes {
  int64_t configs = 0;
  int64_t graphs = 0;
  int64_t rejects = 0;
  int64_t producers = 0;
  int64_t cache_entries = 0;
  int64_t rejects_last_day = 0;
  std::optional<int64_t> bytes;
  std::vector<std::pair<std::string, int64_t>> tables;  // names and bytes; PostgreSQL only
};

// The state of a collector that the program was told of.
struct CollectorHealth {
  std::string address;
  std::string state = "unknown";  // serving, not_serving, unreachable
  std::string detail;
  std::optional<int64_t> checked_unix_ms;
};

// The state of the program that answers need, beside the databases. Thread-safe.
class ServerState {
 public:
  // `tokens` must outlive the object; nullptr: nobody signs in.
  ServerState(bool is_postgresql, const access::TokenWatch* tokens) : is_postgresql_(is_postgresql), tokens_(tokens) {}

  bool is_postgresql() const { return is_postgresql_; }
  const access::TokenWatch* tokens() const { return tokens_; }

  summary::Progress progress() const ABSL_LOCKS_EXCLUDED(mutex_) { return Get(progress_); }
  DatasetSizes sizes() const ABSL_LOCKS_EXCLUDED(mutex_) { return Get(sizes_); }
  std::vector<CollectorHealth> collectors() const ABSL_LOCKS_EXCLUDED(mutex_) { return Get(collectors_); }

  void Set(const summary::Progress& progress) ABSL_LOCKS_EXCLUDED(mutex_) { Put(progress, &progress_); }
  void Set(const DatasetSizes& sizes) ABSL_LOCKS_EXCLUDED(mutex_) { Put(sizes, &sizes_); }
  void Set(const std::vector<CollectorHealth>& collectors) ABSL_LOCKS_EXCLUDED(mutex_) {
    Put(collectors, &collectors_);
  }

 private:
  template <typename T>
  T Get(const T& value) const {
    absl::MutexLock lock(&mutex_);
    return value;
  }
  template <typename T>
  void Put(const T& value, T* to) {
    absl::MutexLock lock(&mutex_);
    *to = value;
  }

  const bool is_postgresql_;
  const access::TokenWatch* const tokens_;
  mutable absl::Mutex mutex_;
  summary::Progress progress_;
  DatasetSizes sizes_;
  std::vector<CollectorHealth> collectors_;
};

}  // namespace telemetry::web
