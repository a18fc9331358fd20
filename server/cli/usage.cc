#include "server/cli/usage.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace telemetry::cli {

void AddConfigFlag(CLI::App* app, const std::string& environment_name) {
  // CLI11 reads the file before it looks at the environment, so the variable is the flag's default.
  const char* variable = std::getenv(environment_name.c_str());
  const std::string file = variable == nullptr ? "" : variable;
  app->set_config("--config", file, "Read flags from this file", /*config_required=*/!file.empty())
      ->envname(environment_name)
      ->type_name("FILE");
  app->allow_config_extras(CLI::config_extras_mode::error);
}

CLI::Validator NotEmpty() {
  return {[](const std::string& value) { return std::string(value.empty() ? "must not be empty" : ""); }, ""};
}

int ExitAfterParse(const CLI::App& app, const CLI::ParseError& error) {
  const bool something_is_missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  // CLI11 finds first what is missing; the word that it did not know, listed first, was likely meant to be that.
  if (something_is_missing && !unknown.empty()) {
    app.exit(CLI::ExtrasError(std::vector<std::string>{unknown.front()}));
    return kExitUsage;
  }
  return app.exit(error) == 0 ? 0 : kExitUsage;
}

}  // namespace telemetry::cli
