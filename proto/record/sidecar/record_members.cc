#include "proto/record/sidecar/record_members.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

absl::Status Mistyped(std::string_view key, const Json* value, std::string_view wanted) {
  if (value == nullptr) return absl::InvalidArgumentError(Cat(key, ": missing"));
  return absl::InvalidArgumentError(Cat(key, ": not a ", wanted));
}

}  // namespace

absl::Status RefuseRepeatedKeys(const Json& value) {
  std::vector<std::string_view> keys;
  keys.reserve(value.members.size());
  for (const auto& [key, member] : value.members) {
    keys.push_back(key);
    RETURN_IF_ERROR(RefuseRepeatedKeys(member));
  }
  for (const Json& item : value.items) {
    RETURN_IF_ERROR(RefuseRepeatedKeys(item));
  }
  std::sort(keys.begin(), keys.end());
  const auto repeated = std::adjacent_find(keys.begin(), keys.end());
  if (repeated == keys.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(*repeated, ": occurs twice in one object"));
}

const Json* RecordMembers::Take(std::string_view key) {
  for (size_t i = 0; i < object_.members.size(); ++i) {
    if (object_.members[i].first != key) continue;
    taken_[i] = true;
    return &object_.members[i].second;
  }
  return nullptr;
}

absl::Status RecordMembers::TakeString(std::string_view key, std::string* value) {
  const Json* member = Take(key);
  if (member == nullptr || member->kind != Json::Kind::kString) return Mistyped(key, member, "string");
  *value = member->text;
  return absl::OkStatus();
}

absl::Status RecordMembers::TakeBool(std::string_view key, bool* value) {
  const Json* member = Take(key);
  const bool is_bool = member != nullptr && (member->kind == Json::Kind::kTrue || member->kind == Json::Kind::kFalse);
  if (!is_bool) return Mistyped(key, member, "truth value");
  *value = member->kind == Json::Kind::kTrue;
  return absl::OkStatus();
}

std::string RecordMembers::RestJson() const {
  std::string out;
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    out.append(out.empty() ? "{" : ", ");
    AppendJsonString(object_.members[i].first, &out);
    out.append(": ");
    AppendJson(object_.members[i].second, &out);
  }
  if (!out.empty()) out.push_back('}');
  return out;
}

void RecordWriter::Separate() {
  if (!first_) out_->append(", ");
  first_ = false;
}

void RecordWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(key, out_);
  out_->append(": ");
}

void RecordWriter::String(std::string_view key, std::string_view value) {
  Key(key);
  AppendJsonString(value, out_);
}

void RecordWriter::Bool(std::string_view key, bool value) { Text(key, value ? "true" : "false"); }

void RecordWriter::Text(std::string_view key, std::string_view json) {
  Key(key);
  out_->append(json);
}

void RecordWriter::WriteMembers(std::string_view json_object) {
  if (!TakePrefix("{", &json_object) || !TakeSuffix("}", &json_object) || json_object.empty()) return;
  Separate();
  out_->append(json_object);
}

}  // namespace telemetry::record::sidecar
