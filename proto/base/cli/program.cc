#include "proto/base/cli/program.h"

#include <cstdio>
#include <exception>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/base/cli/usage.h"

namespace telemetry::cli {
namespace {

std::string Footer(const std::string& examples, const std::string& notes) {
  if (examples.empty()) return notes;
  return absl::StrCat("Examples:\n", examples, notes.empty() ? "" : "\n", notes);
}

// The parser of a program and the commands that it can select.
class Parser {
 public:
  explicit Parser(const Program& program) : program_(program), app_(program.summary, program.name) {
    app_.set_version_flag("--version", program.name + " " TELEMETRY_VERSION);
    AddConfigFlag(app_, Flags(program.name, app_).Variable("config"), program.config_help);
    app_.fallthrough();  // accepts --config after the command, too
    std::string examples;
    for (const NewCommand create : program.commands) examples += Add(app_, create());
    if (!program.notes.empty()) app_.footer(Footer(examples, program.notes));
  }

  // Returns the command that the arguments select. Throws CLI::ParseError for wrong usage, --help and --version.
  Command& Parse(int argc, const char* const* argv) {
    if (program_.empty_values) {
      app_.parse(SplitEmptyValues(argc, argv));
    } else {
      app_.parse(argc, argv);
    }
    if (const absl::Status status = selected_->Check(); !status.ok()) {
      throw CLI::ValidationError(std::string(status.message()));
    }
    return *selected_;
  }

  const CLI::App& app() const { return app_; }

 private:
  // Adds a command to the parser of the program or of a group. Returns its examples.
  std::string Add(CLI::App& parent, std::unique_ptr<Command> owned) {
    Command& command = *commands_.emplace_back(std::move(owned));
    const Help& help = command.help();
    CLI::App* app = &parent;
    if (help.name.empty()) {
      selected_ = &command;
    } else {
      parent.require_subcommand(1);
      app = parent.add_subcommand(help.name, help.summary);
    }
    std::string examples = help.examples;
    const std::vector<NewCommand> inner = command.commands();
    for (const NewCommand create : inner) examples += Add(*app, create());
    if (inner.empty()) app->final_callback([this, &command] { selected_ = &command; });
    app->footer(Footer(examples, help.notes));
    Flags flags(program_.name, *app);
    command.AddFlags(flags);
    return examples;
  }

  // Returns the arguments in the order that CLI11 expects: last argument first, without the program's name. Splits
  // "--name=" into the flag and an empty value.
  static std::vector<std::string> SplitEmptyValues(int argc, const char* const* argv) {
    std::vector<std::string> arguments;
    for (int i = argc - 1; i > 0; --i) {
      std::string argument = argv[i];
      if (argument.size() > 3 && argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
        argument.pop_back();
        arguments.emplace_back();
      }
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  const Program& program_;
  CLI::App app_;
  std::vector<std::unique_ptr<Command>> commands_;
  Command* selected_ = nullptr;
};

int Fail(const Program& program, const absl::Status& error) {
  if (program.fail != nullptr) return program.fail(error);
  std::fprintf(stderr, "%s: %s\n", program.name.c_str(), std::string(error.message()).c_str());
  return kExitFailed;
}

}  // namespace

int RunProgram(const Program& program, int argc, const char* const* argv) {
  try {
    Parser parser(program);
    Command* command = nullptr;
    try {
      command = &parser.Parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return ExitAfterParse(parser.app(), error);
    }
    const absl::StatusOr<int> exit_status = command->Run();
    return exit_status.ok() ? *exit_status : Fail(program, exit_status.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return kExitFailed;
  }
}

}  // namespace telemetry::cli
