#include "client/cache_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {
namespace {

constexpr int kLargestAnswerBytes = 8 << 20;  // a page may have two values of 1 MiB
// A connection without a call is closed after this time: it counts among the collector's connections, and a collector
// that stops waits for it.
constexpr int kIdleTimeoutMs = 2000;

bool MeansAbsent(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }

}  // namespace

absl::Status CacheClient::Named(const absl::Status& status) const {
  return {status.code(), absl::StrCat("collector ", options_.collector, ": ", status.message())};
}

absl::Status CacheClient::Connect() {
  if (!absent_.ok()) return absl::UnavailableError(absent_.message());
  if (stub_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(access::Connection connection,
                   access::Connection::Prepare(options_.credentials, options_.collector));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestAnswerBytes);
  // Uses a connection of its own, which does not wait for another connection's back-off to end.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, kIdleTimeoutMs);
  stub_ = v1::CacheService::NewStub(
      grpc::CreateCustomChannel(options_.collector, connection.channel_credentials(), arguments));
  connection_ = std::make_shared<const access::Connection>(std::move(connection));
  return absl::OkStatus();
}

template <typename Request, typename Response>
absl::StatusOr<Response> CacheClient::Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                                        Response*),
                                           const Request& request) {
  std::shared_ptr<Stub> stub;
  std::shared_ptr<const access::Connection> connection;
  {
    const absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(Connect());
    stub = stub_;
    connection = connection_;
  }
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options_.deadline));
  connection->Authorize(&context);
  Response response;
  const absl::Status status = connection->CallStatus(((*stub).*method)(&context, request, &response));
  if (status.ok()) return response;
  const absl::Status named = Named(status);
  const absl::MutexLock lock(&mutex_);
  if (MeansAbsent(status)) absent_.Update(named);
  return named;
}

absl::StatusOr<v1::CacheEntry> CacheClient::Get(const v1::GetCacheRequest& request) {
  return Call(&Stub::Get, request);
}

absl::StatusOr<v1::PutCacheResponse> CacheClient::Put(const v1::CacheEntry& entry) {
  v1::PutCacheRequest request;
  *request.mutable_entry() = entry;
  return Put(request);
}

absl::StatusOr<v1::PutCacheResponse> CacheClient::Put(const v1::PutCacheRequest& request) {
  return Call(&Stub::Put, request);
}

absl::StatusOr<v1::ListCacheResponse> CacheClient::List(const v1::ListCacheRequest& request) {
  return Call(&Stub::List, request);
}

absl::Status CacheClient::ListAll(v1::ListCacheRequest request, size_t limit,
                                  const std::function<absl::Status(const v1::CacheEntry&)>& take) {
  constexpr size_t kLargestPage = 1000;  // cache.proto
  size_t taken = 0;
  while (taken < limit) {
    request.set_page_size(static_cast<int32_t>(std::min(limit - taken, kLargestPage)));
    ASSIGN_OR_RETURN(const v1::ListCacheResponse page, List(request));
    for (const v1::CacheEntry& entry : page.entries()) {
      RETURN_IF_ERROR(take(entry));
      ++taken;
    }
    if (page.next_page_token().empty()) break;
    request.set_page_token(page.next_page_token());
  }
  return absl::OkStatus();
}

bool CacheClient::is_absent() const {
  const absl::MutexLock lock(&mutex_);
  return !absent_.ok();
}

}  // namespace telemetry::client
