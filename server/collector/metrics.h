#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/collector/retention.h"
#include "server/storage/store.h"

namespace telemetry::collector {

// What is looked up each time somebody asks for the metrics.
struct CollectorState {
  uint64_t in_flight_bytes = 0;
  uint64_t in_flight_limit_bytes = 0;
  uint64_t window_bytes = 0;
  uint64_t waiting_batches = 0;
  uint64_t waiting_bytes = 0;
  uint64_t unread_ack_bytes = 0;
  uint64_t streams = 0;
  // Calls that were turned away, by reason.
  uint64_t refused_unauthenticated = 0;
  uint64_t refused_permission_denied = 0;
  uint64_t refused_overloaded = 0;
  uint64_t refused_streams = 0;
  uint64_t refused_streams_of_producer = 0;
  // Streams that were ended because their clients took too long, by what it was.
  uint64_t ended_no_open = 0;
  uint64_t ended_idle = 0;
  uint64_t ended_unread = 0;
  uint64_t delays = 0;
  uint64_t too_large_records = 0;
  std::vector<std::pair<const char*, double>> limits;
  uint64_t refused_disk_full = 0;
  uint64_t disk_keep_free_bytes = 0;
  // Nothing: cannot be read now.
  std::optional<uint64_t> disk_free_bytes;
  std::optional<uint64_t> producers;
  std::optional<uint64_t> database_bytes;
  std::optional<uint64_t> wal_bytes;
  Retention::State retention;
};

// The collector's numbers in Prometheus' text format, over HTTP on a port of their own: no TLS and no tokens, and
// nothing in them of what is stored. Thread-safe, but for Listen and Stop.
class CollectorMetrics {
 public:
  using ReadState = std::function<CollectorState()>;

  CollectorMetrics();
  // As Stop.
  ~CollectorMetrics();

  // Serves http://HOST:PORT/metrics and returns the port; port 0 takes a free one. `read_state` is called from threads
  // of the metrics' own. UNAVAILABLE: the port is taken or no address.
  absl::StatusOr<int> Listen(const std::string& address, ReadState read_state);
  // Afterwards nobody calls read_state any more. Takes up to 2 s: that is how often the HTTP server looks up.
  void Stop();

  // One transaction that was committed. outcomes[i] belongs to batches[i].
  void AddCommit(absl::Span<const storage::ProducerBatch> batches, absl::Span<const storage::BatchOutcome> outcomes,
                 absl::Duration took);

 private:
  struct Families;
  class StateFamilies;
  struct Exposer;

  const std::unique_ptr<Families> families_;
  std::shared_ptr<StateFamilies> state_;
  std::unique_ptr<Exposer> exposer_;
};

}  // namespace telemetry::collector
