#include "server/access/gate.h"

#include <grpcpp/server_context.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "proto/access/bearer_token.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::access {
namespace {

using record::Cat;

constexpr int kLinesASecond = 10;
constexpr size_t kMostTextBytes = 200;

// Text from outside, so that it stays on its line of the log.
std::string Printable(std::string_view text, size_t most_bytes) {
  return absl::Utf8SafeCEscape(record::AbslView(text.substr(0, most_bytes)));
}

std::string CertificateOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return "";
  for (const char* property : {"x509_subject", "x509_common_name"}) {
    const std::vector<grpc::string_ref> values = auth->FindPropertyValues(property);
    if (!values.empty()) return Printable({values.front().data(), values.front().size()}, kMostTextBytes);
  }
  return "";
}

std::string Describe(const Caller& caller) {
  std::string text = caller.peer;
  if (!caller.certificate.empty()) text += Cat(", certificate ", caller.certificate);
  if (caller.token_id.empty()) return text;
  return text + Cat(", token ", caller.token_id, " (", Printable(caller.name, kMostTextBytes), ")");
}

std::vector<std::string_view> AuthorizationOf(const grpc::CallbackServerContext& context) {
  std::vector<std::string_view> values;
  const auto [begin, end] = context.client_metadata().equal_range(kAuthorizationKey);
  for (auto it = begin; it != end; ++it) values.emplace_back(it->second.data(), it->second.size());
  return values;
}

bool TakeLine(LogLimit& limit, const char* what) {
  uint64_t left_out = 0;
  if (!limit.Take(absl::Now(), &left_out)) return false;
  if (left_out > 0) spdlog::warn("{} more {} calls were not logged", left_out, what);
  return true;
}

}  // namespace

bool LogLimit::Take(absl::Time now, uint64_t* left_out) {
  const absl::MutexLock lock(&mutex_);
  if (now - window_ >= absl::Seconds(1) || now < window_) {
    window_ = now;
    taken_ = 0;
  }
  if (taken_ >= kLinesASecond) {
    ++left_out_;
    return false;
  }
  ++taken_;
  *left_out = std::exchange(left_out_, 0);
  return true;
}

absl::StatusOr<Caller> Gate::Admit(const grpc::CallbackServerContext& context, std::string_view method) {
  Caller caller = {.peer = context.peer(), .certificate = CertificateOf(context)};
  if (tokens_ == nullptr) return caller;
  const std::shared_ptr<const TokenSet> tokens = tokens_->tokens();
  absl::StatusOr<const Token*> token = Authorize(*tokens, method, AuthorizationOf(context), absl::Now());
  if (!token.ok()) {
    CountRefusal(caller, method, token.status());
    return token.status();
  }
  if (*token != nullptr) {
    caller.token_id = (*token)->id;
    caller.name = (*token)->name;
  }
  // Whoever hands over records is logged with the producer, when it is known.
  if (NeedOf(method) == Need::kReader && TakeLine(admission_lines_, "admitted")) {
    spdlog::info("{}: let in {}", std::string(method), Describe(caller));
  }
  return caller;
}

absl::Status Gate::AdmitProducer(const Caller& caller, std::string_view method, std::string_view producer_id,
                                 std::string_view client) {
  if (tokens_ == nullptr) return absl::OkStatus();
  absl::Status status = Recheck(caller, method);
  if (status.ok()) {
    const std::shared_ptr<const TokenSet> tokens = tokens_->tokens();
    const Token* token = tokens->FindId(caller.token_id);
    status = token == nullptr ? absl::UnauthenticatedError("the token is gone")
                              : AuthorizeProducer(*tokens, *token, producer_id);
  }
  if (!status.ok()) {
    CountRefusal(caller, method, status);
    return status;
  }
  if (TakeLine(admission_lines_, "admitted")) {
    spdlog::info("{}: let in producer {} ({}) from {}", std::string(method), record::HexEncode(producer_id),
                 Printable(client, kMostTextBytes), Describe(caller));
  }
  return absl::OkStatus();
}

absl::Status Gate::Recheck(const Caller& caller, std::string_view method) const {
  if (tokens_ == nullptr) return absl::OkStatus();
  const std::shared_ptr<const TokenSet> tokens = tokens_->tokens();
  const Token* token = tokens->FindId(caller.token_id);
  if (token == nullptr) {
    return absl::UnauthenticatedError(Cat("the token ", caller.token_id, " is not known to this collector any more"));
  }
  if (absl::Status status = CheckValid(*token, absl::Now()); !status.ok()) return status;
  return CheckRole(*token, method);
}

void Gate::CountRefusal(const Caller& caller, std::string_view method, const absl::Status& why) {
  ++(absl::IsUnauthenticated(why) ? unauthenticated_ : permission_denied_);
  if (!TakeLine(refusal_lines_, "refused")) return;
  spdlog::warn("refused {} from {}: {}", std::string(method), Describe(caller), std::string(why.message()));
}

}  // namespace telemetry::access
