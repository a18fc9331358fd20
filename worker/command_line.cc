#include "worker/command_line.h"

#include <cctype>
#include <cstdlib>
#include <utility>

#include "proto/access/credential_flags.h"

namespace telemetry {

std::vector<std::string> ArgumentsOf(int argc, const char* const* argv) {
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

std::string VariableOf(const std::string& flag) {
  std::string variable = absl::StrCat("TELEMETRY_WORKER_", flag);
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultStateDir(const std::string& command) {
  std::string state = EnvironmentVariable("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = EnvironmentVariable("HOME");
    state = home.empty() ? "/var/tmp" : absl::StrCat(home, "/.local/state");
  }
  return absl::StrCat(state, "/autotune-telemetry/", command);
}

absl::StatusOr<absl::Duration> DurationOf(const std::string& flag, const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": not a duration like 30s, 10m or 1h"));
  }
  return duration;
}

void AddCredentialFlags(CLI::App* command, access::Credentials* credentials) {
  access::AddCredentialFlags(*command, *credentials, VariableOf);
}

}  // namespace telemetry
