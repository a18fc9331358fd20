#include "server/web/session/session_store.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proto/access/bearer_token.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::web::session {
namespace {

constexpr size_t kMostNetworks = 4096;

absl::StatusOr<std::string> NewCookie() {
  std::array<unsigned char, 32> bytes = {};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return absl::InternalError("the system has no randomness");
  return record::HexEncode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

absl::StatusOr<const access::Token*> SessionStore::Authorize(const access::TokenSet& tokens, std::string_view token) {
  RETURN_IF_ERROR(tokens_->CheckReadable());
  const std::string value = record::Cat(access::kBearer, token);
  return access::Authorize(tokens, access::kWebApi, {value}, clock_());
}

absl::StatusOr<SessionStore::SignedIn> SessionStore::SignIn(std::string_view token, const std::string& network) {
  if (tokens_ == nullptr) return absl::FailedPreconditionError("no tokens are used here: nobody needs to sign in");
  RETURN_IF_ERROR(CheckFailures(network));
  const std::shared_ptr<const access::TokenSet> tokens = tokens_->tokens();
  const absl::StatusOr<const access::Token*> found = Authorize(*tokens, token);
  if (!found.ok()) {
    CountFailure(network, found.status());
    return found.status();
  }
  const access::Token& valid = **found;
  ASSIGN_OR_RETURN(std::string cookie, NewCookie());
  const absl::Time expires = std::min(clock_() + kLifetime, valid.expires);
  {
    absl::MutexLock lock(&mutex_);
    Add(cookie, {.token_id = valid.id, .expires = expires, .number = ++last_number_});
  }
  log::Info("signed in", {{"token", valid.id}, {"name", valid.name}, {"network", network}});
  return SignedIn{.reader = {.name = valid.name, .expires = expires}, .cookie = std::move(cookie)};
}

absl::Status SessionStore::CheckFailures(const std::string& network) {
  absl::MutexLock lock(&mutex_);
  const auto found = failures_.find(network);
  const bool is_over = found == failures_.end() || found->second.until < SteadyNow();
  if (is_over || found->second.count < kMostFailures) return absl::OkStatus();
  return absl::ResourceExhaustedError("too many wrong tokens from this network; try again in 10 seconds");
}

void SessionStore::CountFailure(const std::string& network, const absl::Status& why) {
  uint64_t left_out = 0;
  if (refusal_lines_.Take(SteadyNow(), &left_out)) {
    log::Warn("refused to sign in", {{"network", network}, {"reason", why.ToString()}, {"left_out", left_out}});
  }
  absl::MutexLock lock(&mutex_);
  // Tokens cannot be guessed; the count only bounds the work. It may be forgotten.
  if (failures_.size() >= kMostNetworks) failures_.clear();
  Failures& failures = failures_[network];
  if (failures.until < SteadyNow()) failures = {.until = SteadyAfter(kFailureWindow)};
  ++failures.count;
}

void SessionStore::Add(const std::string& cookie, const Session& session) {
  std::optional<uint64_t> oldest_of_token;
  size_t of_token = 0;
  for (const auto& [number, key] : by_age_) {
    if (sessions_.at(key).token_id != session.token_id) continue;
    if (++of_token == 1) oldest_of_token = number;
  }
  if (of_token >= kMostOfToken) Remove(*oldest_of_token);
  if (sessions_.size() >= kMost) Remove(by_age_.begin()->first);
  std::string key = record::Sha256(cookie);
  sessions_.emplace(key, session);
  by_age_.emplace(session.number, std::move(key));
}

void SessionStore::Remove(uint64_t number) {
  const auto found = by_age_.find(number);
  sessions_.erase(found->second);
  by_age_.erase(found);
}

void SessionStore::SignOut(std::string_view cookie) {
  const std::string key = record::Sha256(cookie);
  absl::MutexLock lock(&mutex_);
  if (const auto found = sessions_.find(key); found != sessions_.end()) Remove(found->second.number);
}

std::optional<SessionStore::Session> SessionStore::Find(std::string_view cookie) const {
  const std::string key = record::Sha256(cookie);
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(key);
  return found == sessions_.end() ? std::nullopt : std::optional<Session>(found->second);
}

absl::StatusOr<Reader> SessionStore::Admit(const Credentials& credentials) {
  if (tokens_ == nullptr) return Reader();
  const std::shared_ptr<const access::TokenSet> tokens = tokens_->tokens();
  RETURN_IF_ERROR(tokens_->CheckReadable());
  if (!credentials.authorization.empty()) {
    ASSIGN_OR_RETURN(const access::Token* const token,
                     access::Authorize(*tokens, access::kWebApi, {credentials.authorization}, clock_()));
    return Reader{.name = token->name, .expires = token->expires};
  }
  const std::optional<Session> session = credentials.cookie.empty() ? std::nullopt : Find(credentials.cookie);
  if (!session.has_value() || session->expires <= clock_()) return absl::UnauthenticatedError("sign in with a token");
  const access::Token* const token = tokens->FindId(session->token_id);
  if (token == nullptr) return absl::UnauthenticatedError("the token of this session no longer exists; sign in again");
  RETURN_IF_ERROR(access::CheckValid(*token, clock_()));
  RETURN_IF_ERROR(access::CheckRole(*token, access::kWebApi));
  return Reader{.name = token->name, .expires = session->expires};
}

size_t SessionStore::size() const {
  absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

}  // namespace telemetry::web::session
