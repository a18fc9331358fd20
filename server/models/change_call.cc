#include "server/models/change_call.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "server/call/message_buffer.h"
#include "server/models/model_limits.h"

namespace telemetry::models {

absl::StatusOr<storage::ModelChange> ChangeCall::Parse() {
  if (context_.kind == Kind::kPut) {
    storage::ModelPut put = {.sender = sender(), .request = {}};
    RETURN_IF_ERROR(call::FromBuffer(request(), &put.request));
    RETURN_IF_ERROR(CheckRequest(put.request, context_.most_model_bytes));
    return put;
  }
  v1::RemoveModelRequest removal;
  RETURN_IF_ERROR(call::FromBuffer(request(), &removal));
  RETURN_IF_ERROR(CheckRequest(removal));
  const bool is_own = removal.sender().empty() || removal.sender() == sender();
  if (!is_own && !caller().is_admin) {
    return absl::PermissionDeniedError(
        "only the sender of a model and a token with the role admin may remove the model");
  }
  return storage::ModelRemoval{.sender = is_own ? sender() : removal.sender(), .sha256 = removal.sha256()};
}

void ChangeCall::OnRequest() {
  const uint64_t bytes = request().Length();
  if (bytes > kMaxRequestBytes) {
    return End(absl::InvalidArgumentError(
        absl::StrCat("the request has ", bytes, " bytes; a part of a model has ", storage::kModelPartBytes)));
  }
  if (absl::Status admitted = context_.admission.Take(sender(), bytes, SteadyNow()); !admitted.ok()) {
    return End(std::move(admitted));
  }
  absl::StatusOr<storage::ModelChange> change = Parse();
  request().Clear();  // the client may leave the answer unread for a while
  if (!change.ok()) {
    context_.admission.Release(sender(), bytes);
    return End(change.status());
  }
  auto self = std::static_pointer_cast<ChangeCall>(shared_from_this());
  context_.writer.ChangeModels(*std::move(change),
                               [self = std::move(self), bytes](const storage::ModelOutcome& outcome) {
                                 self->context_.admission.Release(self->sender(), bytes);
                                 self->OnChanged(outcome);
                               });
}

void ChangeCall::OnChanged(const storage::ModelOutcome& outcome) {
  if (!outcome.status.ok()) return End(outcome.status);
  if (context_.kind == Kind::kPut) return Answer(call::ToBuffer(outcome.response));
  Answer(call::ToBuffer(v1::RemoveModelResponse()));
}

}  // namespace telemetry::models
