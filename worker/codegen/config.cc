#include "worker/codegen/config.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::worker::codegen {

Config::Config(record::Json object) : object_(std::move(object)) {
  object_.kind = record::Json::Kind::kObject;
  std::sort(object_.members.begin(), object_.members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

absl::StatusOr<Config> Config::Parse(std::string_view text) {
  const bool is_json = text.starts_with("{");
  ASSIGN_OR_RETURN(record::Json object, is_json ? record::ParseJson(text) : record::ParseConfig(text));
  return Config(std::move(object));
}

std::string Config::ToString() const { return record::FormatConfig(object_); }

uint64_t Config::id() const { return record::ConfigId(object_); }

}  // namespace telemetry::worker::codegen
