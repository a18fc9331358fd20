#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::collector {

// What the commands of `telemetry-collector token` are told.
struct TokenFlags {
  std::string file;
  std::vector<std::string> roles;
  std::string name;
  std::vector<std::string> producers;
  std::string expires;  // "90d"; empty: never
  std::string out;      // where the new token goes; empty: stdout
  std::string id;
};

// Adds a token to the file, which is made when it is not there, and prints it on stdout or writes it to `out`: the only
// time. INVALID_ARGUMENT: a flag; other errors as access::ChangeTokens and access::WriteSecretFile, after which no
// token was added.
absl::Status AddToken(const TokenFlags& flags);
// Prints what is known of each token. Errors as access::ReadTokens.
absl::Status ListTokens(const TokenFlags& flags);
// From within a second a running collector refuses it, and ends the streams that came with it. NOT_FOUND: no such
// token.
absl::Status RevokeToken(const TokenFlags& flags);

// "90d", "12h", "1h30m". INVALID_ARGUMENT: something else, or nothing above 0.
absl::StatusOr<absl::Duration> ParseLifetime(const std::string& text);

}  // namespace telemetry::collector
