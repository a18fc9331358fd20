#include "proto/base/cli/usage.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/cli/command.h"
#include "proto/base/nearest.h"

namespace telemetry::cli {

void AddConfigFlag(CLI::App& app, const std::string& environment_name, const std::string& help) {
  // CLI11 reads the file before it reads the environment, so the variable's value is used as the flag's default.
  const std::string file = EnvironmentVariable(environment_name);
  app.set_config("--config", file, help, /*config_required=*/!file.empty())
      ->envname(environment_name)
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
}

namespace {

// A formatter that omits the hidden groups of flags, except for --help-all.
class GroupFormatter : public CLI::Formatter {
 public:
  GroupFormatter(const CLI::Formatter& base, std::vector<std::string> hidden)
      : CLI::Formatter(base), hidden_(std::move(hidden)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::All) return CLI::Formatter(*this).make_help(app, std::move(name), mode);
    return CLI::Formatter::make_help(app, std::move(name), mode);
  }
  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> flags) const override {
    if (std::find(hidden_.begin(), hidden_.end(), group) != hidden_.end()) return "";
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(flags));
  }

 private:
  const std::vector<std::string> hidden_;
};

}  // namespace

void HideGroups(CLI::App& command, const std::vector<std::string>& groups) {
  std::string names;
  for (const std::string& group : groups) names += (names.empty() ? "" : ", ") + group;
  command.set_help_all_flag("--help-all", "Print this help with all flags, also those of: " + names);
  const auto base = std::dynamic_pointer_cast<CLI::Formatter>(command.get_formatter());
  command.formatter(std::make_shared<GroupFormatter>(base == nullptr ? CLI::Formatter() : *base, groups));
}

namespace {

// Appends the keys that a configuration file may contain, such as "serve.listen".
void AddKeys(const CLI::App& app, const std::string& prefix, std::vector<std::string>* keys) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (option->get_configurable()) keys->push_back(prefix + name);
    }
  }
  for (const CLI::App* command : app.get_subcommands(nullptr))
    AddKeys(*command, prefix + command->get_name() + ".", keys);
}

// Returns the unknown key that caused `error`, else an empty string. For an unknown key, CLI11 only reports that it
// cannot parse the key.
std::string UnknownKey(const CLI::ParseError& error) {
  constexpr std::string_view kPrefix = "INI was not able to parse ";
  const std::string_view message = error.what();
  return error.get_name() == "ConfigError" && message.starts_with(kPrefix) ? std::string(message.substr(kPrefix.size()))
                                                                           : "";
}

void ComplainOfKey(const CLI::App& app, const std::string& key) {
  std::vector<std::string> keys;
  AddKeys(app, "", &keys);
  const std::string nearest = Nearest(key, keys);
  std::cerr << "--config: there is no flag for the key " << key
            << (nearest.empty() ? "" : "; is " + nearest + " meant?") << "\nRun with --help for more information.\n";
}

// Adds the words that the parser would have accepted: flags, and commands if none was given.
void AddWords(const CLI::App& app, std::vector<std::string>* words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words->push_back("--" + name);
  }
  const std::vector<CLI::App*> given = app.get_subcommands();
  for (const CLI::App* command : given) AddWords(*command, words);
  if (!given.empty()) return;
  for (const CLI::App* command : app.get_subcommands(nullptr)) words->push_back(command->get_name());
}

void ComplainOfWord(const CLI::App& app, const std::string& word) {
  std::vector<std::string> words;
  AddWords(app, &words);
  const std::string nearest = Nearest(word.substr(0, word.find('=')), words);
  std::cerr << "the argument " << word << " is unknown" << (nearest.empty() ? "" : "; is " + nearest + " meant?")
            << "\nRun with --help for more information.\n";
}

}  // namespace

int ExitAfterParse(const CLI::App& app, const CLI::ParseError& error) {
  const auto is_of = [&error](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  // CLI11 reports a missing argument before an unknown one, but the unknown one is probably a misspelt flag.
  if (!unknown.empty() && (is_of(CLI::ExitCodes::RequiredError) || is_of(CLI::ExitCodes::ExtrasError))) {
    ComplainOfWord(app, unknown.front());
    return kExitUsage;
  }
  if (const std::string key = UnknownKey(error); !key.empty()) {
    ComplainOfKey(app, key);
    return kExitUsage;
  }
  if (is_of(CLI::ExitCodes::FileError)) {
    // "FILE was not readable (missing?)"
    const std::string_view message = error.what();
    std::cerr << "--config: cannot read the file " << message.substr(0, message.rfind(" was not readable"))
              << "; it names a file of flags\nRun with --help for more information.\n";
    return kExitUsage;
  }
  return app.exit(error) == 0 ? 0 : kExitUsage;
}

}  // namespace telemetry::cli
