#include "worker/cache/cache_json.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::worker::cache {
namespace {

using record::Json;

Json TextOrNull(std::string text) { return text.empty() ? Json::Null() : Json::String(std::move(text)); }

absl::Status WrongMember(const char* name, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is not ", expected));
}

// Returns the text of a member; empty if it is null or missing.
absl::StatusOr<std::string> TextMember(const Json& object, const char* name) {
  const Json* member = object.Find(name);
  if (member == nullptr || member->is_null()) return "";
  if (member->kind != Json::Kind::kString) return WrongMember(name, "a string");
  return member->text;
}

absl::StatusOr<int64_t> IntMember(const Json& object, const char* name) {
  const Json* member = object.Find(name);
  if (member == nullptr || member->is_null()) return 0;
  int64_t value = 0;
  if (member->kind != Json::Kind::kNumber || !absl::SimpleAtoi(member->text, &value)) {
    return WrongMember(name, "an integer");
  }
  return value;
}

}  // namespace

Json EntryToJson(const v1::CacheEntry& entry, bool with_value) {
  Json object = Json::Object();
  const absl::StatusOr<Json> versions = record::ParseJson(entry.versions_json());
  object.members = {{"namespace", Json::String(entry.namespace_())},
                    {"key", Json::String(entry.key())},
                    {"sender", Json::String(entry.sender())},
                    {"stored_unix_us", Json::Integer(entry.stored_unix_us())},
                    {"attempt_id", TextOrNull(record::HexEncode(entry.attempt_id()))},
                    {"hardware", TextOrNull(entry.hardware())},
                    {"versions", versions.ok() ? *versions : Json::Null()}};
  if (with_value) object.members.emplace_back("value", Json::String(absl::Base64Escape(entry.value())));
  return object;
}

absl::StatusOr<std::string> ParseAttemptId(const std::string& hex) {
  absl::StatusOr<std::string> bytes = record::HexDecode(hex);
  if (bytes.ok() && (bytes->empty() || bytes->size() == record::kAttemptIdBytes)) return bytes;
  return absl::InvalidArgumentError(absl::StrCat("'", hex, "' is not an attempt_id of 32 hex digits"));
}

absl::StatusOr<v1::GetCacheRequest> ParseGet(const Json& object) {
  v1::GetCacheRequest request;
  ASSIGN_OR_RETURN(*request.mutable_namespace_(), TextMember(object, "namespace"));
  ASSIGN_OR_RETURN(*request.mutable_key(), TextMember(object, "key"));
  ASSIGN_OR_RETURN(*request.mutable_hardware(), TextMember(object, "hardware"));
  const Json* senders = object.Find("senders");
  if (senders == nullptr || senders->is_null()) return request;
  if (senders->kind != Json::Kind::kArray) return WrongMember("senders", "a list");
  for (const Json& sender : senders->items) {
    if (sender.kind != Json::Kind::kString) return WrongMember("senders", "a list of strings");
    request.add_senders(sender.text);
  }
  return request;
}

absl::StatusOr<v1::ListCacheRequest> ParseList(const Json& object) {
  v1::ListCacheRequest request;
  ASSIGN_OR_RETURN(*request.mutable_namespace_(), TextMember(object, "namespace"));
  ASSIGN_OR_RETURN(*request.mutable_key_prefix(), TextMember(object, "key_prefix"));
  ASSIGN_OR_RETURN(*request.mutable_hardware(), TextMember(object, "hardware"));
  ASSIGN_OR_RETURN(*request.mutable_sender(), TextMember(object, "sender"));
  ASSIGN_OR_RETURN(*request.mutable_page_token(), TextMember(object, "page_token"));
  ASSIGN_OR_RETURN(const int64_t since_unix_us, IntMember(object, "since_unix_us"));
  ASSIGN_OR_RETURN(const int64_t page_size, IntMember(object, "page_size"));
  request.set_since_unix_us(since_unix_us);
  request.set_page_size(static_cast<int32_t>(std::clamp<int64_t>(page_size, 0, 1000)));
  const Json* values = object.Find("values");
  request.set_values(values != nullptr && values->kind == Json::Kind::kTrue);
  return request;
}

absl::StatusOr<v1::CacheEntry> ParsePut(const Json& object) {
  v1::CacheEntry entry;
  ASSIGN_OR_RETURN(*entry.mutable_namespace_(), TextMember(object, "namespace"));
  ASSIGN_OR_RETURN(*entry.mutable_key(), TextMember(object, "key"));
  ASSIGN_OR_RETURN(*entry.mutable_hardware(), TextMember(object, "hardware"));
  ASSIGN_OR_RETURN(const std::string attempt_id, TextMember(object, "attempt_id"));
  ASSIGN_OR_RETURN(*entry.mutable_attempt_id(), ParseAttemptId(attempt_id));
  ASSIGN_OR_RETURN(const std::string value, TextMember(object, "value"));
  if (!absl::Base64Unescape(value, entry.mutable_value())) return WrongMember("value", "base64");
  const Json* versions = object.Find("versions");
  if (versions == nullptr || versions->is_null()) return entry;
  if (versions->kind != Json::Kind::kObject) return WrongMember("versions", "an object");
  entry.set_versions_json(record::ToJson(*versions));
  return entry;
}

}  // namespace telemetry::worker::cache
