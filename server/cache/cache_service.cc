#include "server/cache/cache_service.h"

#include <memory>
#include <utility>

#include "server/cache/cache_limits.h"
#include "server/cache/put_call.h"
#include "server/call/grpc_status.h"
#include "server/call/message_buffer.h"
#include "server/call/unary_call.h"
#include "telemetry/v1/cache.pb.h"

namespace telemetry::cache {
namespace {

constexpr int kGetThreads = 2;
constexpr int kListThreads = 1;
static_assert(kGetThreads + kListThreads == CacheService::kMostReaders);
// The most bytes of responses that clients have not read, for each of the two methods.
constexpr uint64_t kUnreadBytes = uint64_t{8} << 20;

}  // namespace

// A unary call whose response a pool thread reads from the cache. The response counts as held until the client has read
// it.
template <typename Request, typename Response>
class CacheService::ReadCall final : public call::UnaryCall {
 public:
  using Read = absl::StatusOr<Response> (storage::StoreReader::*)(const Request& request, int64_t oldest_unix_us);

  // `service` and `pool` must outlive the call.
  ReadCall(CacheService& service, dataset::FairPool& pool, call::AdmittedCall call, Read read)
      : call::UnaryCall(std::move(call), service.gate_,
                        {.request = service.options_.request_timeout, .unread = service.options_.unread_timeout}),
        service_(service),
        pool_(pool),
        read_(read) {}
  ReadCall(const ReadCall&) = delete;
  ReadCall& operator=(const ReadCall&) = delete;
  ~ReadCall() override { pool_.Release(sender(), held_bytes_); }

 private:
  void OnRequest() override {
    absl::Status status = request().Length() <= kMaxRequestBytes
                              ? call::FromBuffer(request(), &request_)
                              : absl::InvalidArgumentError("the request is too large");
    request().Clear();
    if (status.ok()) status = CheckRequest(request_);
    if (!status.ok()) return End(std::move(status));
    auto self = std::static_pointer_cast<ReadCall>(shared_from_this());
    const bool waits = pool_.Run(sender(), [self = std::move(self)] { self->ReadAndAnswer(); });
    if (!waits) End(call::TryAgainLater("too many calls of this client are waiting", service_.options_.retry_delay));
  }

  void ReadAndAnswer() {
    if (has_ended()) return;
    const absl::StatusOr<dataset::ReaderPool::Borrowed> reader = service_.readers_.Borrow();
    if (!reader.ok()) return End(reader.status());
    const absl::StatusOr<Response> response = ((**reader).*read_)(request_, service_.OldestUnixUs());
    if (!response.ok()) return End(response.status());
    grpc::ByteBuffer answer = call::ToBuffer(*response);
    held_bytes_ = answer.Length();
    pool_.Hold(sender(), held_bytes_);
    Answer(std::move(answer));
  }

  CacheService& service_;
  dataset::FairPool& pool_;
  const Read read_;
  Request request_;
  uint64_t held_bytes_ = 0;
};

template <typename Request, typename Response>
void CacheService::AddRead(const char* method, dataset::FairPool& pool,
                           absl::StatusOr<Response> (storage::StoreReader::*read)(const Request& request,
                                                                                  int64_t oldest_unix_us)) {
  AddMethod(method, call::CallKind::kOther, [this, &pool, read](call::AdmittedCall call) {
    return std::make_shared<ReadCall<Request, Response>>(*this, pool, std::move(call), read);
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
