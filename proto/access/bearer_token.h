#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::access {

// The metadata key of a token. The value is "Bearer " followed by the token.
inline constexpr char kAuthorizationKey[] = "authorization";
inline constexpr std::string_view kBearer = "Bearer ";

// Returns a new token: "tt_" and 256 random bits as 43 characters of base64url. Returns INTERNAL if the system provides
// no random bytes.
absl::StatusOr<std::string> MakeToken();

// Returns true if the text has the form of a token.
bool IsToken(std::string_view text);

}  // namespace telemetry::access
