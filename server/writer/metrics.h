#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/net/acceptor.h"
#include "server/storage/store.h"
#include "server/writer/acked_seqs.h"
#include "server/writer/retention.h"

namespace telemetry::writer {

// The values that are read for each scrape of the metrics.
struct CollectorState {
  uint64_t in_flight_bytes = 0;
  uint64_t in_flight_limit_bytes = 0;
  uint64_t window_bytes = 0;
  uint64_t waiting_batches = 0;
  uint64_t waiting_bytes = 0;
  uint64_t unread_ack_bytes = 0;
  uint64_t streams = 0;
  // Calls that were refused, by reason.
  uint64_t refused_unauthenticated = 0;
  uint64_t refused_permission_denied = 0;
  uint64_t refused_tokens_unreadable = 0;
  // Zero if the token file can be read, or if there is none.
  absl::Duration tokens_unreadable = absl::ZeroDuration();
  uint64_t refused_overloaded = 0;
  uint64_t refused_streams = 0;
  uint64_t refused_streams_of_producer = 0;
  // Streams that were ended because their clients exceeded a timeout, by timeout.
  uint64_t ended_no_open = 0;
  uint64_t ended_idle = 0;
  uint64_t ended_unread = 0;
  net::Acceptor::Counts connections;
  uint64_t delays = 0;
  uint64_t too_large_records = 0;
  std::vector<std::pair<const char*, double>> limits;
  uint64_t refused_disk_full = 0;
  uint64_t disk_keep_free_bytes = 0;
  // Unset: the value cannot be read now.
  std::optional<uint64_t> disk_free_bytes;
  std::optional<uint64_t> producers;
  std::optional<uint64_t> cache_bytes;
  uint64_t refused_puts = 0;
  std::optional<uint64_t> database_bytes;
  std::optional<uint64_t> wal_bytes;
  Retention::State retention;
};

// The collector's metrics in the Prometheus text format. They contain no stored text. Thread-safe.
class CollectorMetrics {
 public:
  using ReadState = std::function<CollectorState()>;

  CollectorMetrics();
  ~CollectorMetrics();

  // Returns all metrics as text. Calls `read_state` once.
  std::string Text(const ReadState& read_state) const;

  // Counts a committed transaction. outcomes[i] belongs to batches[i].
  void AddCommit(absl::Span<const storage::ProducerBatch> batches, absl::Span<const storage::BatchOutcome> outcomes,
                 absl::Duration took);
  // Counts a committed transaction of the cache.
  void AddPuts(absl::Span<const storage::CachePutOutcome> outcomes);
  // Counts acknowledged records that the dataset has lost: those that this collector acknowledged, and those that
  // producers claim.
  void AddLost(const LostRecords& lost);

 private:
  struct Families;
  struct StateFamilies;

  const std::unique_ptr<Families> families_;
};

}  // namespace telemetry::writer
