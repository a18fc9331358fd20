#include "server/storage/sql/failure_json.h"

#include "proto/record/ids.h"
#include "proto/record/json.h"

namespace telemetry::storage::sql {

std::string FailureToJson(const v1::Failure& failure) {
  record::Json json = record::Json::Object();
  const auto add = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json.members.emplace_back(key, record::Json::String(value));
  };
  add("phase", failure.phase());
  add("error_class", failure.error_class());
  add("code", failure.code());
  add("message", failure.message());
  add("log_sha256", record::HexEncode(failure.log_sha256()));
  return record::ToJson(json);
}

void FailureFromJson(std::string_view text, v1::Failure* failure) {
  failure->Clear();
  absl::StatusOr<record::Json> json = record::ParseJson(text);
  if (!json.ok() || json->kind != record::Json::Kind::kObject) return failure->set_message(std::string(text));
  const auto get = [&json](const char* key) {
    const record::Json* value = json->Find(key);
    return value == nullptr ? std::string() : value->text;
  };
  failure->set_phase(get("phase"));
  failure->set_error_class(get("error_class"));
  failure->set_code(get("code"));
  failure->set_message(get("message"));
  failure->set_log_sha256(record::HexDecode(get("log_sha256")).value_or(""));
}

}  // namespace telemetry::storage::sql
