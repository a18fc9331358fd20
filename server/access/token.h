#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/record/json.h"

namespace telemetry::access {

// The roles of a token. reader: reads the dataset, the cache and the models. writer: sends records. deleter: deletes
// attempts. cache-writer: puts entries into the cache. model: stores cost models. admin: all of these.
enum class Role { kReader, kWriter, kDeleter, kCacheWriter, kModel, kAdmin };

std::string_view RoleName(Role role);
std::optional<Role> ParseRole(std::string_view name);
// The names of the roles, in the order of the enumeration.
inline constexpr std::array<std::string_view, 6> kRoleNames = {"reader",       "writer", "deleter",
                                                               "cache-writer", "model",  "admin"};

// The collector's entry for a token. It does not contain the token itself.
struct Token {
  std::string id;    // 8 hex digits; identifies the token to people and in logs
  std::string name;  // name of the user; records sent with tokens of one name have one sender
  std::vector<Role> roles;
  std::string sha256;  // 32 bytes, hash of the token's text
  absl::Time created;
  absl::Time expires = absl::InfiniteFuture();
  std::optional<absl::Time> revoked;
  // The producers that the token may send records of, 32 hex digits each. Empty: all producers that no token of another
  // name is bound to.
  std::vector<std::string> producers;

  bool Has(Role role) const;
};

// Returns UNAUTHENTICATED if the token has expired or was revoked.
absl::Status CheckValid(const Token& token, absl::Time now);

record::Json ToJson(const Token& token);
// Parses a token. INVALID_ARGUMENT names the member that is missing, wrong or unknown. An unknown member is an error
// because it may be a restriction.
absl::StatusOr<Token> TokenFromJson(const record::Json& json);

// Formats a time: "2027-01-31T00:00:00Z", or "never" for the infinite future.
std::string TimeText(absl::Time time);

}  // namespace telemetry::access
