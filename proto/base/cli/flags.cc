#include "proto/base/cli/flags.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace telemetry::cli {

CLI::Option* Flags::Switch(const std::string& name, bool& value, const std::string& help) {
  return command_.add_flag("--" + name, value, help)->envname(Variable(name));
}

CLI::Option* Flags::File(const std::string& name, std::string& value, const std::string& help) {
  return Add(name, value, help)->required()->type_name("FILE")->check(NotEmpty());
}

CLI::Option* Flags::Seconds(const std::string& name, absl::Duration& value, const std::string& help) {
  return command_
      .add_option_function<double>(
          "--" + name, [&value](const double& seconds) { value = absl::Seconds(seconds); }, help)
      ->envname(Variable(name))
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str(std::to_string(absl::ToInt64Seconds(value)))
      ->type_name("SECONDS");
}

std::string Flags::Variable(const std::string& flag) const {
  return absl::StrReplaceAll(absl::AsciiStrToUpper(absl::StrCat(program_, "_", flag)), {{"-", "_"}});
}

std::string Flags::FromEnvironment(const std::string& flag) const { return EnvironmentVariable(Variable(flag)); }

std::string Flags::CheckSize(std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is not a size such as 512MiB" : std::string();
}

std::string EnvironmentVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

CLI::Validator NotEmpty() {
  return {[](const std::string& value) { return std::string(value.empty() ? "must not be empty" : ""); }, ""};
}

}  // namespace telemetry::cli
