#include "server/cache/cache_service.h"

#include <memory>
#include <utility>

#include "server/cache/cache_limits.h"
#include "server/cache/put_call.h"
#include "server/dataset/read_call.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::cache {
namespace {

constexpr int kGetThreads = 2;
constexpr int kListThreads = 1;
static_assert(kGetThreads + kListThreads == CacheService::kMostReaders);
// The most bytes of responses that clients have not read, for each of the two methods.
constexpr uint64_t kUnreadBytes = uint64_t{8} << 20;

}  // namespace

template <typename Request, typename Response>
void CacheService::AddRead(const char* method, dataset::FairPool& pool,
                           absl::StatusOr<Response> (storage::StoreReader::*read)(const Request& request,
                                                                                  int64_t oldest_unix_us)) {
  using Call = dataset::ReadCall<Request, Response>;
  AddMethod(method, call::CallKind::kOther, [this, &pool, read](call::AdmittedCall call) {
    return std::make_shared<Call>(
        typename Call::Context{
            .pool = pool,
            .readers = readers_,
            .gate = gate_,
            .timeouts = {.request = options_.request_timeout, .unread = options_.unread_timeout},
            .retry_delay = options_.retry_delay,
            .most_request_bytes = kMaxRequestBytes,
            .check = [](const Request& request) { return CheckRequest(request); },
            .read = [this, read](storage::StoreReader& reader,
                                 const Request& request) { return (reader.*read)(request, OldestUnixUs()); }},
        std::move(call));
  });
}

CacheService::CacheService(writer::WriterLoop& writer, dataset::ReaderPool& readers, access::Gate& gate,
                           call::RunningCalls& calls, const Options& options)
    : call::RawService(calls),
      readers_(readers),
      gate_(gate),
      options_(options),
      admission_(options.puts),
      get_pool_({.threads = kGetThreads, .held_bytes = kUnreadBytes}),
      list_pool_({.threads = kListThreads, .held_bytes = kUnreadBytes}) {
  AddRead("/telemetry.v1.CacheService/Get", get_pool_, &storage::StoreReader::GetCacheEntry);
  AddRead("/telemetry.v1.CacheService/List", list_pool_, &storage::StoreReader::ListCacheEntries);
  AddMethod(PutCall::kMethod, call::CallKind::kOther, [this, &writer](call::AdmittedCall call) {
    const PutCall::Timeouts timeouts = {.request = options_.request_timeout, .unread = options_.unread_timeout};
    return std::make_shared<PutCall>(std::move(call), gate_, timeouts, writer, admission_);
  });
}

int64_t CacheService::OldestUnixUs() const {
  if (options_.budget.max_age == absl::InfiniteDuration()) return 0;
  return absl::ToUnixMicros(options_.clock() - options_.budget.max_age);
}

}  // namespace telemetry::cache
