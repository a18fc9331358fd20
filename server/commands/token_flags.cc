#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/access/token.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {
namespace {

std::string CheckProducer(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos) return "";
  return absl::StrCat("'", text, "' is not a producer id of 32 lower-case hex digits");
}

}  // namespace

CLI::Validator LifetimeCheck() {
  const auto check = [](const std::string& text) {
    return text.empty() ? "" : std::string(ParseLifetime(text).status().message());
  };
  return {check, ""};
}

void AddTokens(CLI::App& app, TokenFlags& flags) {
  CLI::App* token = app.add_subcommand("token", "Add, list and revoke the tokens that serve requires");
  token->require_subcommand(1);
  token->fallthrough();
  CLI::App* add =
      token->add_subcommand("add", "Add a token and print it or write it to a file; it cannot be shown again");
  CLI::App* list =
      token->add_subcommand("list", "List the ids, names, roles and states of the tokens, not their texts");
  CLI::App* revoke = token->add_subcommand("revoke", "Revoke a token; a running collector refuses it within a second");
  for (CLI::App* command : {add, list, revoke}) {
    command->fallthrough();
    File(command, "tokens", flags.file, "The file of tokens; add creates it");
  }
  Flag(add, "role", flags.roles,
       "Role: writer sends records, reader reads the dataset, deleter deletes from it, admin does all")
      ->required()
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(access::kRoleNames.begin(), access::kRoleNames.end())));
  Flag(add, "name", flags.name, "Name of the user; tokens of one name count as one sender (default: the token's id)")
      ->type_name("NAME");
  Flag(add, "producer", flags.producers, "Bind the token to this producer, 32 hex digits as in the collector's log")
      ->delimiter(',')
      ->type_name("ID")
      ->check(CLI::Validator(CheckProducer, ""));
  Flag(add, "expires", flags.expires, "Lifetime of the token, such as 90d or 12h (default: unlimited)")
      ->type_name("TIME")
      ->check(LifetimeCheck());
  Flag(add, "out", flags.out, "Write the token to this new file, readable only by you (default: print it)")
      ->type_name("FILE");
  revoke->add_option("id", flags.id, "The token's id, as list shows it")->required()->type_name("ID");
}

}  // namespace telemetry::collector
