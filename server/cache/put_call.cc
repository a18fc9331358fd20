#include "server/cache/put_call.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/cache/cache_limits.h"
#include "server/call/message_buffer.h"

namespace telemetry::cache {
namespace {

// The sender of puts with a condition if the collector uses no tokens (cache.proto).
constexpr char kAnyone[] = "anyone";

}  // namespace

absl::Status PutCall::Admit(uint64_t bytes, v1::PutCacheRequest* parsed) {
  if (bytes > kMaxRequestBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request has ", bytes, " bytes; a value may have ", kMaxValueBytes));
  }
  RETURN_IF_ERROR(admission_.Take(sender(), bytes, SteadyNow()));
  absl::Status status = call::FromBuffer(request(), parsed);
  if (status.ok()) status = CheckRequest(*parsed);
  if (!status.ok()) admission_.Release(sender(), bytes);
  return status;
}

void PutCall::OnRequest() {
  const uint64_t bytes = request().Length();
  v1::PutCacheRequest parsed;
  absl::Status status = Admit(bytes, &parsed);
  request().Clear();  // the client may leave the answer unread for a while
  if (!status.ok()) return End(std::move(status));
  auto self = std::static_pointer_cast<PutCall>(shared_from_this());
  storage::CachePut put = {.sender = sender(), .entry = std::move(*parsed.mutable_entry())};
  if (parsed.has_condition()) {
    put.condition = std::move(*parsed.mutable_condition());
    if (caller().name.empty()) put.sender = kAnyone;
  }
  writer_.Put(std::move(put), [self = std::move(self), bytes](const storage::CachePutOutcome& outcome) {
    self->admission_.Release(self->sender(), bytes);
    self->OnStored(outcome);
  });
}

void PutCall::OnStored(const storage::CachePutOutcome& outcome) {
  if (!outcome.status.ok()) return End(outcome.status);
  v1::PutCacheResponse response;
  response.set_removed(outcome.removed);
  if (outcome.kept.has_value()) {
    *response.mutable_kept() = *outcome.kept;
    response.set_kept_age_us(outcome.kept_age_us);
  }
  Answer(call::ToBuffer(response));
}

}  // namespace telemetry::cache
