#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace telemetry::access {

// The metadata key that a token travels under; its value is "Bearer " and the token.
inline constexpr char kAuthorizationKey[] = "authorization";
inline constexpr std::string_view kBearer = "Bearer ";

// A new token: "tt_" and 256 random bits as 43 characters of base64url. INTERNAL: the system has no randomness to give.
absl::StatusOr<std::string> MakeToken();

// True for a text of that form.
bool IsToken(std::string_view text);

}  // namespace telemetry::access
