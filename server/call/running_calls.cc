#include "server/call/running_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/call/grpc_status.h"
#include "server/call/sender.h"

namespace telemetry::call {

absl::StatusOr<AdmittedCall> RunningCalls::Admit(grpc::ServerContext& context, std::string_view method, CallKind kind) {
  ASSIGN_OR_RETURN(access::Caller caller, gate_.Admit(context, method));
  std::string sender = SenderName(caller);
  if (absl::Status status = Count(kind, sender); !status.ok()) {
    gate_.LogEnd(caller, method, "", status);
    return status;
  }
  std::optional<net::Peer> peer = ParsePeer(caller.peer);
  return AdmittedCall{context, std::move(caller), method, kind, std::move(sender), peer};
}

absl::Status RunningCalls::Count(CallKind kind, const std::string& sender) {
  const absl::MutexLock lock(&mutex_);
  SenderShares& shares = FindShares(kind);
  if (shares.TryTake(sender, 1)) return absl::OkStatus();
  ++too_many_;
  return TryAgainLater(absl::StrCat("the collector accepts ", shares.total_limit(), " such calls at a time, ",
                                    shares.sender_limit(), " of them of one sender: retry later"),
                       limits_.retry_delay);
}

void RunningCalls::AddBeginning(const std::string& peer) {
  bool floods = false;
  {
    const absl::MutexLock lock(&mutex_);
    floods = ++begun_[peer] > limits_.calls_per_connection;
  }
  if (floods && limits_.on_flood) limits_.on_flood(peer);
}

void RunningCalls::AddEnd(const std::string& peer) {
  const absl::MutexLock lock(&mutex_);
  const auto found = begun_.find(peer);
  if (--found->second == 0) begun_.erase(found);
}

void RunningCalls::AddVain(const std::string& peer, bool is_refused) {
  bool floods = false;
  {
    const absl::MutexLock lock(&mutex_);
    const uint64_t of_peer = ++vain_of_peer_[peer];
    const uint64_t of_network = ++vain_of_network_[NetworkOfPeer(peer)];
    if (is_refused) ++unread_refusals_;
    floods =
        of_peer == kMaxVain || of_network > kMaxVainOfNetwork || (is_refused && unread_refusals_ > kMaxUnreadRefusals);
  }
  if (floods && limits_.on_flood) limits_.on_flood(peer);
}

void RunningCalls::AddRefusal(const std::string& peer) { AddVain(peer, /*is_refused=*/true); }

void RunningCalls::AddAbandoned(const std::string& peer) { AddVain(peer, /*is_refused=*/false); }

void RunningCalls::RemoveRefusal() {
  const absl::MutexLock lock(&mutex_);
  --unread_refusals_;
}

void RunningCalls::Add(RunningCall* call, const AdmittedCall& admitted) {
  if (admitted.peer) meter_.BeginCall(*admitted.peer);
  const absl::MutexLock lock(&mutex_);
  calls_.insert({call, &admitted});
  if (draining_) call->Drain();
}

void RunningCalls::Remove(RunningCall* call) {
  const absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(call);
  const AdmittedCall& admitted = *found->second;
  FindShares(admitted.kind).Release(admitted.sender, 1);
  if (admitted.peer) meter_.EndCall(*admitted.peer);
  calls_.erase(found);
}

void RunningCalls::AddMessage(const AdmittedCall& call, const grpc::ByteBuffer& message) {
  if (call.peer) meter_.AddMessage(*call.peer, message.Length());
}

SenderShares& RunningCalls::FindShares(CallKind kind) {
  if (kind == CallKind::kHealth) return health_;
  return kind == CallKind::kExport ? exports_ : others_;
}

uint64_t RunningCalls::CountCalls(std::string_view method) const {
  const absl::MutexLock lock(&mutex_);
  return std::count_if(calls_.begin(), calls_.end(), [&](const auto& call) { return call.second->method == method; });
}

uint64_t RunningCalls::too_many() const {
  const absl::MutexLock lock(&mutex_);
  return too_many_;
}

void RunningCalls::Recheck() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [call, admitted] : calls_) {
    absl::Status status = gate_.Recheck(admitted->caller, admitted->method);
    if (!status.ok()) call->End(std::move(status));
  }
}

void RunningCalls::CheckTimes(SteadyTime now) {
  const absl::MutexLock lock(&mutex_);
  vain_of_peer_.clear();
  vain_of_network_.clear();
  for (const auto& [call, admitted] : calls_) call->CheckTime(now);
}

void RunningCalls::Drain() {
  const absl::MutexLock lock(&mutex_);
  draining_ = true;
  for (const auto& [call, admitted] : calls_) call->Drain();
}

}  // namespace telemetry::call
