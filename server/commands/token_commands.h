#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::collector {

// The flags of the commands `telemetry-collector token`.
struct TokenFlags {
  std::string file;
  std::vector<std::string> roles;
  std::string name;
  std::vector<std::string> producers;
  std::string expires;  // "90d"; empty: never
  std::string out;      // file for the new token; empty: stdout
  std::string id;
};

// Adds a token to the file, which is created if it does not exist, and prints the token on stdout or writes it to
// `out`. The token cannot be shown again. INVALID_ARGUMENT: a flag is invalid. Other errors are those of
// access::ChangeTokens and access::WriteSecretFile. After an error no token was added.
absl::Status AddToken(const TokenFlags& flags);
// Prints the id, name, roles, times and state of each token. Errors: those of access::ReadTokens.
absl::Status ListTokens(const TokenFlags& flags);
// Revokes a token. Within a second a running collector refuses the token and ends the streams that use it. NOT_FOUND:
// the file has no such token.
absl::Status RevokeToken(const TokenFlags& flags);

// Parses a lifetime: "90d", "12h", "1h30m". Returns INVALID_ARGUMENT for other texts, and for a lifetime that is not
// positive.
absl::StatusOr<absl::Duration> ParseLifetime(const std::string& text);

}  // namespace telemetry::collector
