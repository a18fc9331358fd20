#include "server/access/authorizer.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "proto/access/bearer_token.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::access {
namespace {

using record::AbslView;
using record::Cat;

struct Rule {
  std::string_view method;
  Need need;
};

// All methods that may be called. Health checks need no token, because load balancers and orchestrators have none.
constexpr Rule kRules[] = {
    {kWebApi, Need::kReader},
    {"/grpc.health.v1.Health/Check", Need::kNothing},
    {"/grpc.health.v1.Health/Watch", Need::kNothing},
    {kMetricsPage, Need::kReader},
    {"/telemetry.v1.CacheService/Get", Need::kReader},
    {"/telemetry.v1.CacheService/List", Need::kReader},
    {"/telemetry.v1.CacheService/Put", Need::kCacheWriter},
    {"/telemetry.v1.DatasetService/Export", Need::kReader},
    {"/telemetry.v1.DatasetService/GetAttempt", Need::kReader},
    {"/telemetry.v1.DatasetService/GetRun", Need::kReader},
    {"/telemetry.v1.DatasetService/ListAttempts", Need::kReader},
    {"/telemetry.v1.DatasetService/ListMeasurements", Need::kReader},
    {"/telemetry.v1.DatasetService/ListRuns", Need::kReader},
    {"/telemetry.v1.DeletionService/Delete", Need::kDeleter},
    {"/telemetry.v1.IngestService/Ingest", Need::kWriter},
    {"/telemetry.v1.IngestService/Stream", Need::kWriter},
    {"/telemetry.v1.ModelService/List", Need::kReader},
    {"/telemetry.v1.ModelService/Put", Need::kModel},
    {"/telemetry.v1.ModelService/Read", Need::kReader},
    {"/telemetry.v1.ModelService/Remove", Need::kModel},
};

std::string RolesText(const Token& token) {
  std::string text;
  for (const Role role : token.roles) text += Cat(text.empty() ? "" : ",", RoleName(role));
  return text;
}

Role RoleFor(Need need) {
  if (need == Need::kDeleter) return Role::kDeleter;
  if (need == Need::kCacheWriter) return Role::kCacheWriter;
  if (need == Need::kModel) return Role::kModel;
  return need == Need::kReader ? Role::kReader : Role::kWriter;
}

absl::StatusOr<std::string_view> TokenIn(const std::vector<std::string_view>& authorization) {
  if (authorization.empty()) {
    return absl::UnauthenticatedError("this needs a token: give the client --token-file or TELEMETRY_TOKEN");
  }
  if (authorization.size() > 1) return absl::UnauthenticatedError("the call carries more than one token");
  std::string_view value = authorization.front();
  if (!absl::StartsWithIgnoreCase(AbslView(value), AbslView(kBearer))) {
    return absl::UnauthenticatedError("the call's authorization is not a bearer token");
  }
  value.remove_prefix(kBearer.size());
  return value;
}

absl::Status NotForAnyone(std::string_view method) {
  return absl::PermissionDeniedError(Cat("nobody may call ", method));
}

bool IsBoundTo(const Token& token, const std::string& producer) {
  return std::find(token.producers.begin(), token.producers.end(), producer) != token.producers.end();
}

}  // namespace

std::optional<Need> FindNeed(std::string_view method) {
  for (const Rule& rule : kRules) {
    if (rule.method == method) return rule.need;
  }
  return std::nullopt;
}

TokenSet::TokenSet(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

const Token* TokenSet::FindText(std::string_view text) const {
  const std::string sha256 = record::Sha256(text);
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (CRYPTO_memcmp(token.sha256.data(), sha256.data(), sha256.size()) == 0) found = &token;
  }
  return found;
}

const Token* TokenSet::FindId(std::string_view id) const {
  for (const Token& token : tokens_) {
    if (token.id == id) return &token;
  }
  return nullptr;
}

absl::StatusOr<const Token*> Authorize(const TokenSet& tokens, std::string_view method,
                                       const std::vector<std::string_view>& authorization, absl::Time now) {
  const std::optional<Need> need = FindNeed(method);
  if (!need) return NotForAnyone(method);
  if (*need == Need::kNothing) return nullptr;
  ASSIGN_OR_RETURN(std::string_view text, TokenIn(authorization));
  const Token* token = tokens.FindText(text);
  if (token == nullptr) return absl::UnauthenticatedError("the token is not known to this collector");
  RETURN_IF_ERROR(CheckValid(*token, now));
  RETURN_IF_ERROR(CheckRole(*token, method));
  return token;
}

absl::Status CheckRole(const Token& token, std::string_view method) {
  const std::optional<Need> need = FindNeed(method);
  if (!need) return NotForAnyone(method);
  if (*need == Need::kNothing || token.Has(Role::kAdmin)) return absl::OkStatus();
  const Role role = RoleFor(*need);
  if (token.Has(role)) return absl::OkStatus();
  return absl::PermissionDeniedError(Cat("the token ", token.id, " (", token.name, ") has the role ", RolesText(token),
                                         "; this needs ", RoleName(role),
                                         ": ask the collector's operator for a token with that role"));
}

absl::Status AuthorizeProducer(const TokenSet& tokens, const Token& token, std::string_view producer_id) {
  const std::string producer = record::HexEncode(producer_id);
  if (IsBoundTo(token, producer)) return absl::OkStatus();
  if (!token.producers.empty()) {
    return absl::PermissionDeniedError(
        Cat("the token ", token.id, " (", token.name, ") is not bound to the producer ", producer));
  }
  for (const Token& other : tokens.tokens()) {
    if (other.name != token.name && IsBoundTo(other, producer)) {
      return absl::PermissionDeniedError(Cat("the producer ", producer, " belongs to another writer than the token ",
                                             token.id, " (", token.name, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace telemetry::access
