#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/cache/put_admission.h"
#include "server/call/raw_service.h"
#include "server/call/running_calls.h"
#include "server/dataset/fair_pool.h"
#include "server/dataset/reader_pool.h"
#include "server/storage/cache_put.h"
#include "server/storage/store.h"
#include "server/writer/writer_loop.h"

namespace telemetry::cache {

// The implementation of CacheService in cache.proto. Gets use readers on threads of their own, on which senders take
// turns, so that they wait neither behind queries of the dataset nor behind lists, which may read the whole cache. The
// writer thread stores the puts.
class CacheService final : public call::RawService {
 public:
  // The most readers in use at a time.
  static constexpr int kMostReaders = 3;

  struct Options {
    absl::Duration request_timeout = absl::InfiniteDuration();
    absl::Duration unread_timeout = absl::InfiniteDuration();
    absl::Duration retry_delay = absl::Seconds(1);
    storage::CacheBudget budget;
    PutAdmission::Options puts;
    // The clock by which entries become too old.
    std::function<absl::Time()> clock = &absl::Now;
  };

  // `writer`, `readers`, `gate` and `calls` must outlive the service.
  CacheService(writer::WriterLoop& writer, dataset::ReaderPool& readers, access::Gate& gate, call::RunningCalls& calls,
               const Options& options);

  // The number of puts that were refused so far because a sender put too much at a time.
  uint64_t refused_puts() const { return admission_.refused(); }

 private:
  // Adds a unary method that returns the result of read(reader, request, oldest_unix_us), on a thread of the pool.
  template <typename Request, typename Response>
  void AddRead(const char* method, dataset::FairPool& pool,
               absl::StatusOr<Response> (storage::StoreReader::*read)(const Request& request, int64_t oldest_unix_us));
  // Returns the time before which stored entries are too old.
  int64_t OldestUnixUs() const;

  dataset::ReaderPool& readers_;
  access::Gate& gate_;
  const Options options_;
  PutAdmission admission_;
  dataset::FairPool get_pool_;
  dataset::FairPool list_pool_;
};

}  // namespace telemetry::cache
