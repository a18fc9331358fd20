#include "server/collector/health_service.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <optional>
#include <utility>
#include <vector>

namespace telemetry::collector {
namespace {

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
// A longer name is of no service here.
constexpr size_t kMaxRequestBytes = 512;
// HealthCheckRequest.service and HealthCheckResponse.status.
constexpr int kOnlyField = 1;

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// The service of a HealthCheckRequest; nothing: this is none.
std::optional<std::string> ReadService(const grpc::ByteBuffer& request) {
  std::vector<grpc::Slice> slices;
  if (request.Length() > kMaxRequestBytes || !request.Dump(&slices).ok()) return std::nullopt;
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  std::string service;
  while (const uint32_t tag = stream.ReadTag()) {
    const bool is_service = tag == WireFormatLite::MakeTag(kOnlyField, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    if (!(is_service ? WireFormatLite::ReadBytes(&stream, &service) : WireFormatLite::SkipField(&stream, tag))) {
      return std::nullopt;
    }
  }
  if (!stream.ConsumedEntireMessage()) return std::nullopt;
  return service;
}

grpc::ByteBuffer WriteStatus(char status) {
  const std::string bytes = {static_cast<char>(WireFormatLite::MakeTag(kOnlyField, WireFormatLite::WIRETYPE_VARINT)),
                             status};
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

// "ipv4:192.0.2.7" of "ipv4:192.0.2.7:4711".
std::string AddressOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

// One call. gRPC calls its On... methods from several threads; it deletes itself.
class HealthService::Call final : public Reactor {
 public:
  Call(HealthService& health, std::string address, bool is_watch)
      : health_(health), address_(std::move(address)), is_watch_(is_watch) {}

  const std::string& address() const { return address_; }
  SteadyTime begin() const { return begin_; }

  void Start() { StartRead(&request_); }

  // Tells a Watch the status if it is another than the last one.
  void Tell(const std::map<std::string, Status>& statuses) ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      if (!service_) return;
      const auto found = statuses.find(*service_);
      next_ = found == statuses.end() ? kServiceUnknown : found->second;
    });
  }
  // Ends the call, after the status that is still to be told.
  void End(grpc::Status status) ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      if (!end_) end_ = std::move(status);
    });
  }
  // Ends a call whose message has not come since `time`.
  void EndWithoutRequest(SteadyTime time) ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      if (service_ || end_ || begin_ > time) return;
      end_ = grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "the request did not come");
    });
  }

  void OnReadDone(bool ok) override {
    std::optional<std::string> service;
    if (ok) service = ReadService(request_);
    request_.Clear();
    if (!service) return End({grpc::StatusCode::INVALID_ARGUMENT, "no HealthCheckRequest"});
    if (is_watch_) {
      {
        absl::MutexLock lock(&mutex_);
        service_ = std::move(service);
      }
      absl::MutexLock lock(&health_.mutex_);
      return Tell(health_.statuses_);
    }
    const Status status = health_.StatusOf(*service);
    if (status == kServiceUnknown) return End({grpc::StatusCode::NOT_FOUND, "no such service"});
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      next_ = status;
      end_ = grpc::Status::OK;
    });
  }
  void OnWriteDone(bool ok) override {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      is_writing_ = false;
      if (!ok && !end_) end_ = grpc::Status::CANCELLED;
      if (!ok) next_ = told_;
    });
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    health_.End(*this);
    delete this;
  }

 private:
  // Makes a change, and then writes or finishes if one of them is due. Finishes without the mutex: afterwards another
  // thread may delete the call.
  template <typename Step>
  void Change(Step step) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<grpc::Status> finish;
    {
      absl::MutexLock lock(&mutex_);
      step();
      if (is_writing_ || is_finished_) return;
      if (next_ != told_) {
        told_ = next_;
        is_writing_ = true;
        response_ = WriteStatus(static_cast<char>(*told_));
        StartWrite(&response_);
      } else if (end_) {
        is_finished_ = true;
        finish = end_;
      }
    }
    if (finish) Finish(*finish);
  }

  HealthService& health_;
  const std::string address_;
  const bool is_watch_;
  const SteadyTime begin_ = SteadyNow();
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  absl::Mutex mutex_;
  std::optional<std::string> service_ ABSL_GUARDED_BY(mutex_);  // nothing: the message has not come
  std::optional<Status> told_ ABSL_GUARDED_BY(mutex_);
  std::optional<Status> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

HealthService::HealthService(absl::Duration open_timeout) : open_timeout_(open_timeout), statuses_{{"", kServing}} {
  const char* const methods[] = {kCheck, kWatch};
  for (int i = 0; i < 2; ++i) {
    const bool is_watch = i == 1;
    AddMethod(new grpc::internal::RpcServiceMethod(methods[i], grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(i, new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                                 [this, is_watch](grpc::CallbackServerContext* context) -> Reactor* {
                                   return Begin(*context, is_watch);
                                 }));
  }
}

HealthService::~HealthService() = default;

HealthService::Call* HealthService::Begin(grpc::CallbackServerContext& context, bool is_watch) {
  auto* call = new Call(*this, AddressOf(context.peer()), is_watch);
  bool has_room = false;
  {
    absl::MutexLock lock(&mutex_);
    uint64_t& of_address = calls_of_address_[call->address()];
    has_room = calls_.size() < kMaxCalls && of_address < kMaxCallsPerAddress && !is_shut_down_;
    // OnDone takes it out, also where it has to go at once.
    calls_.push_back(call);
    ++of_address;
  }
  if (has_room) {
    call->Start();
  } else {
    call->End({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls of the health service: come back later"});
  }
  return call;
}

void HealthService::End(Call& call) {
  absl::MutexLock lock(&mutex_);
  calls_.remove(&call);
  const auto of_address = calls_of_address_.find(call.address());
  if (--of_address->second == 0) calls_of_address_.erase(of_address);
}

HealthService::Status HealthService::StatusOf(const std::string& service) const {
  absl::MutexLock lock(&mutex_);
  const auto found = statuses_.find(service);
  return found == statuses_.end() ? kServiceUnknown : found->second;
}

void HealthService::TellWatches() {
  for (Call* call : calls_) call->Tell(statuses_);
}

void HealthService::SetServingStatus(const std::string& service, bool is_serving) {
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  statuses_[service] = is_serving ? kServing : kNotServing;
  TellWatches();
}

void HealthService::SetServingStatus(bool is_serving) {
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  for (auto& [service, status] : statuses_) status = is_serving ? kServing : kNotServing;
  TellWatches();
}

void HealthService::Shutdown() {
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  for (auto& [service, status] : statuses_) status = kNotServing;
  TellWatches();
  is_shut_down_ = true;
  for (Call* call : calls_) call->End({grpc::StatusCode::UNAVAILABLE, "the collector is ending"});
}

void HealthService::CheckTimes(SteadyTime now) {
  const SteadyTime time = now - absl::ToChronoNanoseconds(open_timeout_);
  absl::MutexLock lock(&mutex_);
  for (Call* call : calls_) call->EndWithoutRequest(time);
}

uint64_t HealthService::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_.size();
}

}  // namespace telemetry::collector
