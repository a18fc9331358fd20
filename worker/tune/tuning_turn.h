#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cache_client.h"
#include "client/lease.h"

namespace telemetry::worker::tune {

// The options of AwaitTurn.
struct TurnOptions {
  // The longest time to wait for another worker that tunes the same run.
  absl::Duration longest_wait = absl::Minutes(30);
  // True: do not wait, but return ABORTED.
  bool may_come_back = false;
  const std::atomic<bool>* stop = nullptr;  // once set, from any thread: no longer waits; null: never
  // Receive messages for the user: that the call waits or waits no longer, and why there is no lease. May be empty.
  std::function<void(const std::string&)> on_waiting;
  std::function<void(const std::string&)> on_no_lease;
};

// The turn of one worker to tune a run.
struct Turn {
  // Null: the worker has no lease, because the collector is absent, is too old or does not permit it, because the
  // longest wait has passed, or because of a stop.
  std::unique_ptr<client::Lease> lease;
  bool has_waited = false;  // another worker has tuned the run meanwhile, or has died
};

// Takes the lease of a run at the collector of `cache`, which must outlive the turn, so that the workers of a fleet
// tune each run once. Waits while another worker holds it. The only error is ABORTED: another worker holds it and
// `may_come_back` is set.
absl::StatusOr<Turn> AwaitTurn(client::CacheClient& cache, const std::string& run_id, const TurnOptions& options);

}  // namespace telemetry::worker::tune
