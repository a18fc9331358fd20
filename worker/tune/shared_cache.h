#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cache_client.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/best_configs.h"

namespace telemetry::worker::tune {

// The best configs in the cache of a collector: one entry for each run and sender, in the namespace kNamespace, with
// the run_id as key and the JSON of a BestConfig as value. The run_id is derived from the kernel, the inputs, the
// hardware and the settings. A config that another machine put is only a proposal: the search measures it like any
// other. Thread-safe.
class SharedCache {
 public:
  static constexpr char kNamespace[] = "autotune-telemetry";

  explicit SharedCache(client::CacheClientOptions options) : client_(std::move(options)) {}

  // Returns the newest config of this run on its hardware. Errors: NOT_FOUND if there is none, FAILED_PRECONDITION if
  // the entry is no config of this run, else those of CacheClient::Get.
  absl::StatusOr<BestConfig> Find(const v1::Run& run);
  // Puts the best config of an attempt. `versions`: an object with the versions with which the config was found.
  // Returns the errors of CacheClient::Put.
  absl::Status Put(const BestConfig& best, const record::Json& versions);

  client::CacheClient& client() { return client_; }
  // Returns true after a call that did not reach the collector or got no answer in time.
  bool is_absent() const { return client_.is_absent(); }

 private:
  client::CacheClient client_;
};

}  // namespace telemetry::worker::tune
