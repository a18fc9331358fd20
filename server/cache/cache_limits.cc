#include "server/cache/cache_limits.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/storage/cache_put.h"
#include "server/storage/nul_check.h"

namespace telemetry::cache {
namespace {

absl::Status CheckLength(const char* field, const std::string& value, uint64_t most) {
  if (value.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " has ", value.size(), " bytes; the limit is ", most));
}

absl::Status CheckRequired(const char* field, const std::string& value, uint64_t most) {
  if (value.empty()) return absl::InvalidArgumentError(absl::StrCat(field, " is empty"));
  return CheckLength(field, value, most);
}

absl::Status CheckNoNul(const google::protobuf::Message& message) {
  const std::optional<std::string> field = storage::FieldWithNul(message);
  if (!field) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(*field, " contains a NUL"));
}

absl::Status CheckVersions(const std::string& versions_json) {
  if (versions_json.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckLength("versions_json", versions_json, kMaxVersionsBytes));
  const absl::StatusOr<record::Json> versions = record::ParseJson(versions_json);
  if (versions.ok() && versions->kind == record::Json::Kind::kObject) return absl::OkStatus();
  return absl::InvalidArgumentError("versions_json is not a JSON object");
}

}  // namespace

absl::Status CheckRequest(const v1::GetCacheRequest& request) {
  RETURN_IF_ERROR(CheckNoNul(request));
  RETURN_IF_ERROR(CheckRequired("namespace", request.namespace_(), kMaxNamespaceBytes));
  RETURN_IF_ERROR(CheckRequired("key", request.key(), kMaxKeyBytes));
  RETURN_IF_ERROR(CheckLength("hardware", request.hardware(), kMaxHardwareBytes));
  if (request.senders_size() > kMaxSenders) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxSenders, " senders"));
  }
  for (const std::string& sender : request.senders()) {
    RETURN_IF_ERROR(CheckRequired("senders", sender, kMaxSenderBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const v1::ListCacheRequest& request) {
  RETURN_IF_ERROR(CheckNoNul(request));
  RETURN_IF_ERROR(CheckLength("namespace", request.namespace_(), kMaxNamespaceBytes));
  RETURN_IF_ERROR(CheckLength("key_prefix", request.key_prefix(), kMaxKeyBytes));
  RETURN_IF_ERROR(CheckLength("hardware", request.hardware(), kMaxHardwareBytes));
  return CheckLength("sender", request.sender(), kMaxSenderBytes);
}

absl::Status CheckRequest(const v1::PutCacheRequest& request) {
  const v1::CacheEntry& entry = request.entry();
  RETURN_IF_ERROR(CheckNoNul(request));
  RETURN_IF_ERROR(CheckRequired("namespace", entry.namespace_(), kMaxNamespaceBytes));
  RETURN_IF_ERROR(CheckRequired("key", entry.key(), kMaxKeyBytes));
  RETURN_IF_ERROR(CheckLength("value", entry.value(), kMaxValueBytes));
  RETURN_IF_ERROR(CheckLength("hardware", entry.hardware(), kMaxHardwareBytes));
  RETURN_IF_ERROR(CheckVersions(entry.versions_json()));
  if (!entry.sender().empty() || entry.stored_unix_us() != 0) {
    return absl::InvalidArgumentError("sender and stored_unix_us are set by the collector");
  }
  if (request.condition().values_size() > kMaxConditionValues) {
    return absl::InvalidArgumentError(absl::StrCat("the condition has more than ", kMaxConditionValues, " values"));
  }
  for (const std::string& value : request.condition().values()) {
    RETURN_IF_ERROR(CheckLength("condition.values", value, storage::kMaxConditionBytes));
  }
  if (request.condition().max_age_us() < 0) {
    return absl::InvalidArgumentError("condition.max_age_us is negative");
  }
  if (!entry.attempt_id().empty() && entry.attempt_id().size() != record::kAttemptIdBytes) {
    return absl::InvalidArgumentError("attempt_id has not 16 bytes");
  }
  return absl::OkStatus();
}

}  // namespace telemetry::cache
