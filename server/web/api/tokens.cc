#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

// A token or a sender of the list of tokens.
struct TokenRow {
  std::optional<std::string> role;
  std::optional<bool> in_token_file;
  std::optional<int64_t> expires_unix_ms;
  int64_t attempts = 0;
  int64_t producers = 0;
  int64_t rejects = 0;
  std::optional<int64_t> last_opened_us;
};
using TokenRows = std::map<std::optional<std::string>, TokenRow>;

void AddTokens(const access::TokenWatch& watch, TokenRows* rows) {
  for (auto& [name, row] : *rows) row.in_token_file = false;
  for (const access::Token& token : watch.tokens()->tokens()) {
    if (token.revoked.has_value()) continue;
    TokenRow& row = (*rows)[token.name];
    row.in_token_file = true;
    std::string roles;
    for (const access::Role role : token.roles) roles += Cat(roles.empty() ? "" : ", ", access::RoleName(role));
    row.role = row.role.has_value() && *row.role != roles ? Cat(*row.role, "; ", roles) : roles;
    if (token.expires != absl::InfiniteFuture()) row.expires_unix_ms = absl::ToUnixMillis(token.expires);
  }
}

absl::Status AddSenders(const Call& call, TokenRows* rows) {
  const auto name = [](const Statement& row) {
    return row.IsNull(0) ? std::nullopt : std::optional<std::string>(row.String(0));
  };
  Statement attempts(
      call.scratch,
      "SELECT t.label, a.attempts FROM (SELECT sender, count(*) AS attempts FROM attempts GROUP BY sender) AS a "
      "JOIN texts AS t ON t.text = a.sender ORDER BY a.sender");
  RETURN_IF_ERROR(ForEachRow(attempts, [&] {
    (*rows)[name(attempts)].attempts = attempts.Int(1);
    return absl::OkStatus();
  }));
  Statement producers(call.dataset,
                      "SELECT s.name, count(*), max(p.last_opened_unix_us) FROM producers AS p "
                      "LEFT JOIN senders AS s ON s.sender = p.sender GROUP BY s.name ORDER BY s.name");
  RETURN_IF_ERROR(ForEachRow(producers, [&] {
    TokenRow& row = (*rows)[name(producers)];
    row.producers = producers.Int(1);
    row.last_opened_us = producers.Int(2);
    return absl::OkStatus();
  }));
  Statement rejects(call.dataset,
                    "SELECT s.name, count(*) FROM rejects AS r JOIN producers AS p ON p.producer_id = r.producer_id "
                    "LEFT JOIN senders AS s ON s.sender = p.sender GROUP BY s.name ORDER BY s.name");
  return ForEachRow(rejects, [&] {
    (*rows)[name(rejects)].rejects = rejects.Int(1);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status ListTokens(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"format"}));
  TokenRows rows;
  RETURN_IF_ERROR(AddSenders(call, &rows));
  if (call.state.tokens() != nullptr) AddTokens(*call.state.tokens(), &rows);
  out.BeginObject();
  out.BeginArray("items");
  for (const auto& [name, row] : rows) {
    out.BeginObject();
    out.Field("name", name);
    out.Field("role", row.role);
    out.Field("in_token_file", row.in_token_file);
    out.Field("expires_unix_ms", row.expires_unix_ms);
    out.Field("attempts", row.attempts);
    out.Field("producers", row.producers);
    out.Field("rejects", row.rejects);
    out.Field("last_opened_unix_ms",
              row.last_opened_us.has_value() ? std::optional(*row.last_opened_us / 1000) : std::nullopt);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
