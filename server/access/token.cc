#include "server/access/token.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"

namespace telemetry::access {
namespace {

using record::Cat;
using record::Json;

constexpr size_t kIdDigits = 8;
constexpr size_t kProducerDigits = 32;
constexpr size_t kHashDigits = 64;

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Json TimeToJson(absl::Time time) {
  return time == absl::InfiniteFuture() ? Json::Null() : Json::String(TimeText(time));
}

Json StringArray(const std::vector<std::string>& values) {
  Json array = Json::Array();
  for (const std::string& value : values) array.items.push_back(Json::String(value));
  return array;
}

absl::Status Wrong(std::string_view member) {
  return absl::InvalidArgumentError(Cat("a token's \"", member, "\" is missing or wrong"));
}

// A reader of the members of one token. It keeps the first error.
class TokenReader {
 public:
  explicit TokenReader(const Json& json) : json_(json) {}

  std::string Text(std::string_view member) {
    const Json* value = json_.Find(member);
    if (value != nullptr && value->kind == Json::Kind::kString) return value->text;
    Fail(member);
    return "";
  }

  std::string Hex(std::string_view member, size_t digits) {
    std::string text = Text(member);
    if (!IsHex(text, digits)) Fail(member);
    return text;
  }

  absl::Time Time(std::string_view member) {
    absl::Time time;
    if (!absl::ParseTime(absl::RFC3339_full, Text(member), &time, nullptr)) Fail(member);
    return time;
  }

  // Returns nullopt if the member is null.
  std::optional<absl::Time> OptionalTime(std::string_view member) {
    const Json* value = json_.Find(member);
    if (value != nullptr && value->is_null()) return std::nullopt;
    return Time(member);
  }

  std::vector<std::string> Texts(std::string_view member) {
    std::vector<std::string> texts;
    const Json* value = json_.Find(member);
    if (value == nullptr || value->kind != Json::Kind::kArray) {
      Fail(member);
      return texts;
    }
    for (const Json& item : value->items) {
      if (item.kind != Json::Kind::kString) Fail(member);
      texts.push_back(item.text);
    }
    return texts;
  }

  void Fail(std::string_view member) { status_.Update(Wrong(member)); }
  const absl::Status& status() const { return status_; }

 private:
  const Json& json_;
  absl::Status status_;
};

absl::Status CheckMembers(const Json& json) {
  static constexpr std::string_view kMembers[] = {"id",      "name",    "roles",   "sha256",
                                                  "created", "expires", "revoked", "producers"};
  for (const auto& [member, value] : json.members) {
    if (std::find(std::begin(kMembers), std::end(kMembers), member) == std::end(kMembers)) {
      return absl::InvalidArgumentError(Cat("a token has \"", member, "\", which this version does not know"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view RoleName(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::optional<Role> ParseRole(std::string_view name) {
  const auto* const found = std::find(kRoleNames.begin(), kRoleNames.end(), name);
  if (found == kRoleNames.end()) return std::nullopt;
  return static_cast<Role>(found - kRoleNames.begin());
}

bool Token::Has(Role role) const { return std::find(roles.begin(), roles.end(), role) != roles.end(); }

absl::Status CheckValid(const Token& token, absl::Time now) {
  if (token.revoked) {
    return absl::UnauthenticatedError(
        Cat("the token ", token.id, " was revoked: ask the collector's operator for another"));
  }
  if (now >= token.expires) {
    return absl::UnauthenticatedError(Cat("the token ", token.id, " expired at ", TimeText(token.expires),
                                          ": ask the collector's operator for another"));
  }
  return absl::OkStatus();
}

record::Json ToJson(const Token& token) {
  Json json = Json::Object();
  json.members.emplace_back("id", Json::String(token.id));
  json.members.emplace_back("name", Json::String(token.name));
  std::vector<std::string> roles;
  for (const Role role : token.roles) roles.emplace_back(RoleName(role));
  json.members.emplace_back("roles", StringArray(roles));
  json.members.emplace_back("sha256", Json::String(record::HexEncode(token.sha256)));
  json.members.emplace_back("created", TimeToJson(token.created));
  json.members.emplace_back("expires", TimeToJson(token.expires));
  json.members.emplace_back("revoked", token.revoked ? TimeToJson(*token.revoked) : Json::Null());
  json.members.emplace_back("producers", StringArray(token.producers));
  return json;
}

absl::StatusOr<Token> TokenFromJson(const record::Json& json) {
  if (json.kind != Json::Kind::kObject) return absl::InvalidArgumentError("a token is not a JSON object");
  RETURN_IF_ERROR(CheckMembers(json));
  TokenReader reader(json);
  Token token = {.id = reader.Hex("id", kIdDigits),
                 .name = reader.Text("name"),
                 .sha256 = record::HexDecode(reader.Hex("sha256", kHashDigits)).value_or(""),
                 .created = reader.Time("created"),
                 .expires = reader.OptionalTime("expires").value_or(absl::InfiniteFuture()),
                 .revoked = reader.OptionalTime("revoked"),
                 .producers = reader.Texts("producers")};
  if (token.name.empty()) reader.Fail("name");
  for (const std::string& name : reader.Texts("roles")) {
    const std::optional<Role> role = ParseRole(name);
    if (!role) reader.Fail("roles");
    token.roles.push_back(role.value_or(Role::kReader));
  }
  if (token.roles.empty()) reader.Fail("roles");
  for (const std::string& producer : token.producers) {
    if (!IsHex(producer, kProducerDigits)) reader.Fail("producers");
  }
  if (!reader.status().ok()) return reader.status();
  return token;
}

std::string TimeText(absl::Time time) {
  if (time == absl::InfiniteFuture()) return "never";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace telemetry::access
