#include "server/access/gate.h"

#include <grpcpp/server_context.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "proto/access/bearer_token.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/access/request_id.h"

namespace telemetry::access {
namespace {

using record::Cat;

constexpr int kLinesASecond = 10;

std::string CertificateName(const grpc::ServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return "";
  for (const char* property : {"x509_subject", "x509_common_name"}) {
    const std::vector<grpc::string_ref> values = auth->FindPropertyValues(property);
    if (!values.empty()) return {values.front().data(), values.front().size()};
  }
  return "";
}

// The fields of a log line about a call that are not those of its caller.
struct CallLine {
  const char* message;
  std::string_view method;
  std::string_view producer_id = {};
  std::string_view client = {};
  std::string_view code = {};
  std::string reason = {};
};

void Log(log::Level level, const Caller& caller, const CallLine& line) {
  log::Write(level, line.message,
             {{"request_id", caller.request_id},
              {"method", line.method},
              {"peer", caller.peer},
              {"certificate", caller.certificate},
              {"token", caller.token_id},
              {"name", caller.name},
              {"producer", record::HexEncode(line.producer_id.substr(0, record::kProducerIdBytes))},
              {"client", line.client},
              {"code", line.code},
              {"reason", line.reason}});
}

// Returns the level at which an end status is logged. A disconnect and NOT_FOUND are no warnings: they are ordinary, as
// when a worker asks for a run that has not been tuned.
log::Level EndLogLevel(const absl::Status& end) {
  if (absl::IsCancelled(end) || absl::IsNotFound(end)) return log::Level::kDebug;
  const bool is_usual = absl::IsUnavailable(end) || absl::IsAborted(end) || absl::IsDeadlineExceeded(end);
  return is_usual ? log::Level::kInfo : log::Level::kWarning;
}

std::vector<std::string_view> AuthorizationHeaders(const grpc::ServerContext& context) {
  std::vector<std::string_view> values;
  const auto [begin, end] = context.client_metadata().equal_range(kAuthorizationKey);
  for (auto it = begin; it != end; ++it) values.emplace_back(it->second.data(), it->second.size());
  return values;
}

bool TakeLine(LogLimit& limit, const char* what) {
  uint64_t left_out = 0;
  if (!limit.Take(SteadyNow(), &left_out)) return false;
  if (left_out > 0) log::Warn("more calls were not logged", {{"count", left_out}, {"what", what}});
  return true;
}

}  // namespace

bool LogLimit::Take(SteadyTime now, uint64_t* left_out) {
  const absl::MutexLock lock(&mutex_);
  if (!window_.has_value() || now - *window_ >= std::chrono::seconds(1)) {
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

absl::StatusOr<Caller> Gate::Admit(grpc::ServerContext& context, std::string_view method) {
  Caller caller = {
      .peer = context.peer(), .certificate = CertificateName(context), .request_id = BeginRequest(context)};
  const std::optional<Need> need = FindNeed(method);
  if (tokens_ == nullptr) {
    if (need != Need::kDeleter) return caller;
    absl::Status status = absl::PermissionDeniedError(
        "this collector uses no tokens, and only a token with the role deleter may delete: serve with --tokens, or "
        "stop the collector and give the database itself with --db");
    CountRefusal(caller, method, status);
    return status;
  }
  if (need != Need::kNothing) {
    if (absl::Status status = tokens_->CheckReadable(); !status.ok()) {
      CountRefusal(caller, method, status);
      return status;
    }
  }
  const std::shared_ptr<const TokenSet> tokens = tokens_->tokens();
  absl::StatusOr<const Token*> token = Authorize(*tokens, method, AuthorizationHeaders(context), absl::Now());
  if (!token.ok()) {
    CountRefusal(caller, method, token.status());
    return token.status();
  }
  if (*token != nullptr) {
    caller.token_id = (*token)->id;
    caller.name = (*token)->name;
    caller.is_admin = (*token)->Has(Role::kAdmin);
  }
  // Writers are logged in AdmitProducer, when the producer is known.
  const bool deletes = need == Need::kDeleter;
  if ((deletes || need == Need::kReader) && TakeLine(admission_lines_, "admitted")) {
    Log(log::Level::kInfo, caller, {.message = deletes ? "admitted a deleter" : "admitted a reader", .method = method});
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
    status = token == nullptr ? absl::UnauthenticatedError("the token is not known to this collector any more")
                              : AuthorizeProducer(*tokens, *token, producer_id);
  }
  if (!status.ok()) {
    CountRefusal(caller, method, status);
    return status;
  }
  if (TakeLine(admission_lines_, "admitted")) {
    Log(log::Level::kInfo, caller,
        {.message = "admitted a producer", .method = method, .producer_id = producer_id, .client = client});
  }
  return absl::OkStatus();
}

absl::Status Gate::Recheck(const Caller& caller, std::string_view method) const {
  if (tokens_ == nullptr || FindNeed(method) == Need::kNothing) return absl::OkStatus();
  const std::shared_ptr<const TokenSet> tokens = tokens_->tokens();
  const Token* token = tokens->FindId(caller.token_id);
  if (token == nullptr) {
    return absl::UnauthenticatedError(Cat("the token ", caller.token_id, " is not known to this collector any more"));
  }
  RETURN_IF_ERROR(CheckValid(*token, absl::Now()));
  return CheckRole(*token, method);
}

void Gate::CountRefusal(const Caller& caller, std::string_view method, const absl::Status& why) {
  if (absl::IsUnavailable(why)) ++tokens_unreadable_;
  if (absl::IsUnauthenticated(why)) ++unauthenticated_;
  if (absl::IsPermissionDenied(why)) ++permission_denied_;
  if (!TakeLine(refusal_lines_, "refused")) return;
  Log(log::Level::kWarning, caller,
      {.message = "refused a call", .method = method, .reason = std::string(why.message())});
}

void Gate::LogEnd(const Caller& caller, std::string_view method, std::string_view producer_id,
                  const absl::Status& status) {
  if (status.ok()) return;
  const log::Level level = EndLogLevel(status);
  if (level != log::Level::kDebug && !TakeLine(end_lines_, "ended")) return;
  Log(level, caller,
      {.message = "a call ended with an error",
       .method = method,
       .producer_id = producer_id,
       .code = absl::StatusCodeToString(status.code()),
       .reason = std::string(status.message())});
}

}  // namespace telemetry::access
