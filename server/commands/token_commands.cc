#include "server/commands/token_commands.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "server/access/secret_file.h"
#include "server/access/token_file.h"

namespace telemetry::collector {
namespace {

using access::Role;
using access::Token;

absl::StatusOr<Token> TokenOf(const TokenFlags& flags, absl::Time now) {
  Token token = {.name = flags.name, .created = now, .producers = flags.producers};
  for (const std::string& name : flags.roles) {
    const std::optional<Role> role = access::ParseRole(name);
    if (!role) return absl::InvalidArgumentError(absl::StrCat("--role ", name, ": unknown role"));
    if (!token.Has(*role)) token.roles.push_back(*role);
  }
  if (!token.producers.empty() && !token.Has(Role::kWriter) && !token.Has(Role::kAdmin)) {
    return absl::InvalidArgumentError("--producer applies to writers only: add --role writer");
  }
  if (flags.expires.empty()) return token;
  ASSIGN_OR_RETURN(absl::Duration lifetime, ParseLifetime(flags.expires));
  token.expires = now + lifetime;
  return token;
}

std::string RolesText(const Token& token) {
  std::vector<std::string> names;
  for (const Role role : token.roles) names.emplace_back(access::RoleName(role));
  return absl::StrJoin(names, ",");
}

std::string StateText(const Token& token, absl::Time now) {
  if (token.revoked) return absl::StrCat("revoked ", access::TimeText(*token.revoked));
  return now >= token.expires ? "expired" : "valid";
}

}  // namespace

absl::StatusOr<absl::Duration> ParseLifetime(const std::string& text) {
  constexpr int kMostDays = 36500;
  absl::Duration lifetime;
  int days = 0;
  const bool in_days = text.ends_with('d');
  if (in_days && absl::SimpleAtoi(absl::string_view(text).substr(0, text.size() - 1), &days) && days <= kMostDays) {
    lifetime = absl::Hours(24) * days;
  } else if (in_days || !absl::ParseDuration(text, &lifetime)) {
    lifetime = absl::ZeroDuration();
  }
  if (lifetime > absl::ZeroDuration() && lifetime <= absl::Hours(24) * kMostDays) return lifetime;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a time such as 90d or 12h"));
}

absl::Status AddToken(const TokenFlags& flags) {
  ASSIGN_OR_RETURN(Token token, TokenOf(flags, absl::Now()));
  ASSIGN_OR_RETURN(access::NewToken added, access::MakeNewToken(std::move(token)));
  RETURN_IF_ERROR(access::ChangeTokens(flags.file, [&](std::vector<Token>& tokens) {
    tokens.push_back(added.token);
    return flags.out.empty() ? absl::OkStatus() : access::WriteSecretFile(flags.out, added.text + "\n");
  }));
  std::fprintf(stderr, "token %s for %s (%s), expires: %s. It cannot be shown again: %s keeps only its hash.\n",
               added.token.id.c_str(), added.token.name.c_str(), RolesText(added.token).c_str(),
               access::TimeText(added.token.expires).c_str(), flags.file.c_str());
  if (flags.out.empty()) std::printf("%s\n", added.text.c_str());
  return absl::OkStatus();
}

absl::Status ListTokens(const TokenFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, access::ReadTokens(flags.file));
  const absl::Time now = absl::Now();
  size_t width = 4;
  for (const Token& token : tokens) width = std::max(width, token.name.size());
  absl::PrintF("%-8s  %-*s  %-13s  %-20s  %-20s  %s\n", "ID", width, "NAME", "ROLES", "CREATED", "EXPIRES", "STATE");
  for (const Token& token : tokens) {
    absl::PrintF("%-8s  %-*s  %-13s  %-20s  %-20s  %s%s\n", token.id, width, token.name, RolesText(token),
                 access::TimeText(token.created), access::TimeText(token.expires), StateText(token, now),
                 token.producers.empty() ? "" : absl::StrCat("; producers ", absl::StrJoin(token.producers, ",")));
  }
  return absl::OkStatus();
}

absl::Status RevokeToken(const TokenFlags& flags) {
  return access::ChangeTokens(flags.file, [&flags](std::vector<Token>& tokens) {
    const auto token = std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return t.id == flags.id; });
    if (token == tokens.end()) {
      return absl::NotFoundError(
          absl::StrCat("no token ", flags.id, " in ", flags.file, "; telemetry-collector token list shows them"));
    }
    if (!token->revoked) token->revoked = absl::Now();
    std::printf("token %s (%s) is revoked\n", token->id.c_str(), token->name.c_str());
    return absl::OkStatus();
  });
}

}  // namespace telemetry::collector
