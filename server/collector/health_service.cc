#include "server/collector/health_service.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/call/grpc_status.h"
#include "server/call/operation_scope.h"

namespace telemetry::collector {
namespace {

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
constexpr char kEnding[] = "the collector is shutting down";
// A longer request names no service of this server.
constexpr size_t kMaxRequestBytes = 512;
// The field number of HealthCheckRequest.service and of HealthCheckResponse.status.
constexpr int kOnlyField = 1;

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Returns the service of a HealthCheckRequest, or nullopt if the bytes are no such message.
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

}  // namespace

// A call of Check or Watch. gRPC calls its On... methods from several threads.
class HealthService::Call final : public call::RawCall {
 public:
  Call(HealthService& health, call::AdmittedCall call, bool is_watch)
      : call::RawCall(std::move(call)),
        health_(health),
        is_watch_(is_watch),
        request_at_(SteadyAfter(health.open_timeout_)) {}

  // Sends a Watch its status if the status differs from the last one sent.
  void Tell(const std::map<std::string, Status>& statuses) ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      if (!service_) return;
      const auto found = statuses.find(*service_);
      next_ = found == statuses.end() ? kServiceUnknown : found->second;
    });
  }
  // Ends the call after sending the pending status.
  void End(absl::Status status) override ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { SetEnd(std::move(status)); });
  }
  void CheckTime(SteadyTime now) override ABSL_LOCKS_EXCLUDED(mutex_) {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      if (!service_ && now >= request_at_) SetEnd(absl::DeadlineExceededError("the request did not arrive in time"));
    });
  }

 private:
  void Begin() override {
    health_.Add(this);
    wire().Read(&request_);
  }
  void OnReadDone(bool ok) override {
    if (ok) CountMessage(request_);
    std::optional<std::string> service;
    if (ok) service = ReadService(request_);
    request_.Clear();
    if (!service) return End(absl::InvalidArgumentError("the request is not a HealthCheckRequest"));
    if (is_watch_) {
      {
        absl::MutexLock lock(&mutex_);
        service_ = std::move(service);
      }
      absl::MutexLock lock(&health_.mutex_);
      return Tell(health_.statuses_);
    }
    const Status status = health_.FindStatus(*service);
    if (status == kServiceUnknown) return End(absl::NotFoundError("unknown service"));
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      next_ = status;
      SetEnd(absl::OkStatus());
    });
  }
  void OnWriteDone(bool ok) override {
    Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      is_writing_ = false;
      if (ok) return;
      SetEnd(ClientHasGone());
      next_ = told_;
    });
  }
  void OnCancel() override { End(ClientHasGone()); }
  void OnDone() override {
    health_.Remove(this);
    call::RawCall::OnDone();
  }

  static absl::Status ClientHasGone() { return absl::CancelledError("the client has disconnected"); }
  void SetEnd(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!end_) end_ = std::move(status);
  }
  // Runs `step`, then starts a write or finishes if either is due. Finishes without the mutex, because another thread
  // may delete the call afterwards.
  template <typename Step>
  void Change(Step step) ABSL_LOCKS_EXCLUDED(mutex_) {
    const call::OperationScope scope;
    std::optional<absl::Status> finish;
    {
      absl::MutexLock lock(&mutex_);
      step();
      if (is_writing_ || is_finished_) return;
      if (next_ != told_) {
        told_ = next_;
        is_writing_ = true;
        response_ = WriteStatus(static_cast<char>(*told_));
        wire().Write(response_);
      } else if (end_) {
        is_finished_ = true;
        finish = end_;
      }
    }
    if (finish) wire().Finish(call::ToGrpc(*finish));
  }

  HealthService& health_;
  const bool is_watch_;
  const SteadyTime request_at_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  absl::Mutex mutex_;
  std::optional<std::string> service_ ABSL_GUARDED_BY(mutex_);  // unset: the request has not arrived
  std::optional<Status> told_ ABSL_GUARDED_BY(mutex_);
  std::optional<Status> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

HealthService::HealthService(call::RunningCalls& calls, absl::Duration open_timeout)
    : call::RawService(calls), open_timeout_(open_timeout), statuses_{{"", kServing}} {
  AddMethod(kCheck, call::CallKind::kHealth,
            [this](call::AdmittedCall call) { return std::make_shared<Call>(*this, std::move(call), false); });
  AddMethod(kWatch, call::CallKind::kHealth,
            [this](call::AdmittedCall call) { return std::make_shared<Call>(*this, std::move(call), true); });
}

HealthService::~HealthService() = default;

void HealthService::Add(Call* call) {
  absl::MutexLock lock(&mutex_);
  calls_.push_back(call);
  if (is_shut_down_) call->End(absl::UnavailableError(kEnding));
}

void HealthService::Remove(Call* call) {
  absl::MutexLock lock(&mutex_);
  calls_.remove(call);
}

HealthService::Status HealthService::FindStatus(const std::string& service) const {
  absl::MutexLock lock(&mutex_);
  const auto found = statuses_.find(service);
  return found == statuses_.end() ? kServiceUnknown : found->second;
}

void HealthService::TellWatches() {
  for (Call* call : calls_) call->Tell(statuses_);
}

void HealthService::SetServingStatus(const std::string& service, bool is_serving) {
  const call::OperationScope scope;
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  statuses_[service] = is_serving ? kServing : kNotServing;
  TellWatches();
}

void HealthService::SetServingStatus(bool is_serving) {
  const call::OperationScope scope;
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  for (auto& [service, status] : statuses_) status = is_serving ? kServing : kNotServing;
  TellWatches();
}

void HealthService::Shutdown() {
  const call::OperationScope scope;
  absl::MutexLock lock(&mutex_);
  if (is_shut_down_) return;
  for (auto& [service, status] : statuses_) status = kNotServing;
  TellWatches();
  is_shut_down_ = true;
  for (Call* call : calls_) call->End(absl::UnavailableError(kEnding));
}

}  // namespace telemetry::collector
