#include "worker/command_line.h"

#include <cstdlib>
#include <utility>

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
  const auto file = [command](const std::string& name, std::string& value, const std::string& help) {
    return AddOption(command, name, value, help)->type_name("FILE");
  };
  file("--tls-ca", credentials->tls_ca, "Connect with TLS to a collector that these authorities vouch for (PEM)");
  CLI::Option* cert = file("--tls-cert", credentials->tls_cert, "Show this certificate to the collector (PEM)");
  CLI::Option* key = file("--tls-key", credentials->tls_key, "Private key of the certificate (PEM)");
  cert->needs(key);
  key->needs(cert);
  file("--token-file", credentials->token_file, "Show the token in this file; without it the one in TELEMETRY_TOKEN");
  credentials->token = access::TakeTokenFromEnvironment();
}

}  // namespace telemetry
