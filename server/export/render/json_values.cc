#include "server/export/render/json_values.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/record/python_literal.h"

namespace telemetry::exporter::render {

using record::Json;

Json CountJson(uint64_t count) { return Json::Integer(static_cast<int64_t>(count)); }

Json TextOrNull(const std::string& text) { return text.empty() ? Json::Null() : Json::String(text); }

Json TimeJson(int64_t unix_us) {
  return Json::String(absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(unix_us), absl::UTCTimeZone()));
}

Json MillisecondsJson(double ms) { return Json::Number(absl::StrFormat("%.6f", ms)); }

Json EmbeddedJson(std::string_view text) {
  absl::StatusOr<Json> value = record::ParseJson(text);
  return value.ok() ? *std::move(value) : Json::String(std::string(text));
}

Json ConfigJson(std::string_view text) {
  absl::StatusOr<Json> config = record::ParseConfig(text);
  return config.ok() ? *std::move(config) : Json::String(std::string(text));
}

void Put(Json* object, std::string key, Json value) { object->members.emplace_back(std::move(key), std::move(value)); }

}  // namespace telemetry::exporter::render
