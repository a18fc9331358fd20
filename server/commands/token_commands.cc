#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "server/access/secret_file.h"
#include "server/access/token.h"
#include "server/access/token_file.h"
#include "server/commands/commands.h"
#include "server/commands/lifetime.h"

namespace telemetry::commands {
namespace {

using access::Role;
using access::Token;

// The flags of `token add` that describe the new token.
struct TokenAddFlags {
  std::vector<std::string> roles;
  std::string name;
  std::vector<std::string> producers;
  std::string expires;  // "90d"; empty: never
  std::string out;      // file for the new token; empty: stdout
};

absl::StatusOr<Token> MakeToken(const TokenAddFlags& flags, absl::Time now) {
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

std::string CheckProducer(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos) return "";
  return absl::StrCat("'", text, "' is not a producer id of 32 lower-case hex digits");
}

// A command on a file of tokens.
class TokenCommand : public cli::Command {
 public:
  using Command::Command;

  void AddFlags(cli::Flags& flags) override { flags.File("tokens", file_, "The file of tokens; add creates it"); }

 protected:
  std::string file_;
};

// Adds a token to the file, which is created if it does not exist, and prints the token on stdout or writes it to a
// file. After an error no token was added.
class TokenAddCommand final : public TokenCommand {
 public:
  TokenAddCommand()
      : TokenCommand({.name = "add",
                      .summary = "Add a token and print it or write it to a file; it cannot be shown again",
                      .examples = "  telemetry-collector token add --tokens tokens.json --role writer --name ci-gpu-17 "
                                  "--expires 90d --out token\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    TokenCommand::AddFlags(flags);
    flags
        .Add("role", flags_.roles,
             "Role: writer sends records, reader reads the dataset, the cache and the models, deleter deletes from the "
             "dataset, cache-writer puts entries into the cache, model stores cost models, admin does all")
        ->required()
        ->delimiter(',')
        ->check(CLI::IsMember(std::vector<std::string>(access::kRoleNames.begin(), access::kRoleNames.end())));
    flags
        .Add("name", flags_.name, "Name of the user; tokens of one name count as one sender (default: the token's id)")
        ->type_name("NAME");
    flags.Add("producer", flags_.producers, "Bind the token to this producer, 32 hex digits as in the collector's log")
        ->delimiter(',')
        ->type_name("ID")
        ->check(CLI::Validator(CheckProducer, ""));
    flags.Add("expires", flags_.expires, "Lifetime of the token, such as 90d or 12h (default: unlimited)")
        ->type_name("TIME")
        ->check(LifetimeCheck());
    flags.Add("out", flags_.out, "Write the token to this new file, readable only by you (default: print it)")
        ->type_name("FILE");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(Token token, MakeToken(flags_, absl::Now()));
    ASSIGN_OR_RETURN(access::NewToken added, access::MakeNewToken(std::move(token)));
    RETURN_IF_ERROR(access::ChangeTokens(file_, [&](std::vector<Token>& tokens) {
      tokens.push_back(added.token);
      return flags_.out.empty() ? absl::OkStatus() : access::WriteSecretFile(flags_.out, added.text + "\n");
    }));
    std::fprintf(stderr, "token %s for %s (%s), expires: %s. It cannot be shown again: %s keeps only its hash.\n",
                 added.token.id.c_str(), added.token.name.c_str(), RolesText(added.token).c_str(),
                 access::TimeText(added.token.expires).c_str(), file_.c_str());
    if (flags_.out.empty()) std::printf("%s\n", added.text.c_str());
    return cli::kExitDone;
  }

 private:
  TokenAddFlags flags_;
};

// Prints the id, name, roles, times and state of each token.
class TokenListCommand final : public TokenCommand {
 public:
  TokenListCommand()
      : TokenCommand({.name = "list",
                      .summary = "List the ids, names, roles and states of the tokens, not their texts",
                      .examples = "  telemetry-collector token list --tokens tokens.json\n"}) {}

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(std::vector<Token> tokens, access::ReadTokens(file_));
    const absl::Time now = absl::Now();
    size_t width = 4;
    for (const Token& token : tokens) width = std::max(width, token.name.size());
    absl::PrintF("%-8s  %-*s  %-13s  %-20s  %-20s  %s\n", "ID", width, "NAME", "ROLES", "CREATED", "EXPIRES", "STATE");
    for (const Token& token : tokens) {
      absl::PrintF("%-8s  %-*s  %-13s  %-20s  %-20s  %s%s\n", token.id, width, token.name, RolesText(token),
                   access::TimeText(token.created), access::TimeText(token.expires), StateText(token, now),
                   token.producers.empty() ? "" : absl::StrCat("; producers ", absl::StrJoin(token.producers, ",")));
    }
    return cli::kExitDone;
  }
};

// Revokes a token. Within a second a running collector refuses the token and ends the streams that use it.
class TokenRevokeCommand final : public TokenCommand {
 public:
  TokenRevokeCommand()
      : TokenCommand({.name = "revoke",
                      .summary = "Revoke a token; a running collector refuses it within a second",
                      .examples = "  telemetry-collector token revoke --tokens tokens.json 4f2a9c1e\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    TokenCommand::AddFlags(flags);
    flags.command().add_option("id", id_, "The token's id, as list shows it")->required()->type_name("ID");
  }

  absl::StatusOr<int> Run() override {
    RETURN_IF_ERROR(access::ChangeTokens(file_, [this](std::vector<Token>& tokens) {
      const auto token = std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return t.id == id_; });
      if (token == tokens.end()) {
        return absl::NotFoundError(
            absl::StrCat("no token ", id_, " in ", file_, "; telemetry-collector token list shows them"));
      }
      if (!token->revoked) token->revoked = absl::Now();
      std::printf("token %s (%s) is revoked\n", token->id.c_str(), token->name.c_str());
      return absl::OkStatus();
    }));
    return cli::kExitDone;
  }

 private:
  std::string id_;
};

}  // namespace

std::unique_ptr<cli::Command> NewToken() {
  return std::make_unique<cli::CommandGroup>(
      cli::Help{.name = "token", .summary = "Add, list and revoke the tokens that serve requires"},
      std::vector<cli::NewCommand>{cli::New<TokenAddCommand>, cli::New<TokenListCommand>,
                                   cli::New<TokenRevokeCommand>});
}

}  // namespace telemetry::commands
