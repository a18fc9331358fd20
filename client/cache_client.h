#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/cache.grpc.pb.h"

namespace telemetry::client {

// The collector whose cache is used, and the limits of a call.
struct CacheClientOptions {
  std::string collector;  // HOST:PORT
  // Credentials for the collector. The files are read when the first call connects.
  access::Credentials credentials;
  // Limit for one call: connecting and the answer. A list has this time for each page.
  absl::Duration deadline = absl::Seconds(1);
};

// A client of CacheService for tuners. A tuner that finds no entry searches as without a cache, so a collector that
// is down must cost little: after the first call that does not reach it or gets no answer in time, the cache counts as
// absent, and all later calls fail at once. The client never retries. Thread-safe.
class CacheClient {
 public:
  explicit CacheClient(CacheClientOptions options) : options_(std::move(options)) {}

  // Return the answer of the service. Errors: UNAVAILABLE if the collector cannot be reached, DEADLINE_EXCEEDED if it
  // does not answer in time, and then UNAVAILABLE for all later calls; UNAUTHENTICATED or PERMISSION_DENIED if it
  // refuses the credentials; UNIMPLEMENTED if it is older than the cache; else the error of CacheService, as NOT_FOUND
  // of Get. Every message names the collector.
  absl::StatusOr<v1::CacheEntry> Get(const v1::GetCacheRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<v1::PutCacheResponse> Put(const v1::CacheEntry& entry) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<v1::PutCacheResponse> Put(const v1::PutCacheRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<v1::ListCacheResponse> List(const v1::ListCacheRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `take` for each entry that the request selects, over all pages, at most `limit` times. An error of `take`
  // ends the list and is returned. Other errors as for List().
  absl::Status ListAll(v1::ListCacheRequest request, size_t limit,
                       const std::function<absl::Status(const v1::CacheEntry&)>& take) ABSL_LOCKS_EXCLUDED(mutex_);

  const CacheClientOptions& options() const { return options_; }
  // Returns true after a call that did not reach the collector or got no answer in time.
  bool is_absent() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Stub = v1::CacheService::Stub;

  // Connects if this is the first call, and makes the call. `method` is a method of the stub.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Named(const absl::Status& status) const;

  const CacheClientOptions options_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const access::Connection> connection_ ABSL_GUARDED_BY(mutex_);  // nullptr: not connected yet
  std::shared_ptr<Stub> stub_ ABSL_GUARDED_BY(mutex_);
  absl::Status absent_ ABSL_GUARDED_BY(mutex_);  // the error after which the cache counts as absent; OK: none
};

}  // namespace telemetry::client
