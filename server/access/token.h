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

// reader: reads the dataset. writer: hands over records. deleter: deletes attempts. admin: all of these.
enum class Role { kReader, kWriter, kDeleter, kAdmin };

std::string_view RoleName(Role role);
std::optional<Role> ParseRole(std::string_view name);
// All names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> kRoleNames = {"reader", "writer", "deleter", "admin"};

// What the collector knows of a token; not the token itself.
struct Token {
  std::string id;    // 8 hex digits: names the token to people and in logs
  std::string name;  // who uses it; what is sent with tokens of one name comes from one writer
  std::vector<Role> roles;
  std::string sha256;  // 32 bytes, of the token's text
  absl::Time created;
  absl::Time expires = absl::InfiniteFuture();
  std::optional<absl::Time> revoked;
  // The producers that it may speak for, 32 hex digits each. Empty: all that belong to nobody else.
  std::vector<std::string> producers;

  bool Has(Role role) const;
};

// OK, or UNAUTHENTICATED: the token has expired or was revoked.
absl::Status CheckValid(const Token& token, absl::Time now);

record::Json ToJson(const Token& token);
// INVALID_ARGUMENT names the member that is missing, wrong or not known: what is not known may be a restriction.
absl::StatusOr<Token> TokenFromJson(const record::Json& json);

// "2027-01-31T00:00:00Z"; "never" for the infinite future.
std::string TimeText(absl::Time time);

}  // namespace telemetry::access
