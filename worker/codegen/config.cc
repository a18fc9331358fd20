#include "worker/codegen/config.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::worker::codegen {

struct Config::Content {
  explicit Content(record::Json config) : object(std::move(config)) {
    object.kind = record::Json::Kind::kObject;
    std::sort(object.members.begin(), object.members.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  record::Json object;
  mutable std::once_flag text_once;
  mutable std::string text;
  mutable std::once_flag id_once;
  mutable uint64_t id = 0;
};

Config::Config(record::Json object) : content_(std::make_shared<const Content>(std::move(object))) {}

absl::StatusOr<Config> Config::Parse(std::string_view text) {
  const bool is_json = text.starts_with("{");
  ASSIGN_OR_RETURN(record::Json object, is_json ? record::ParseJson(text) : record::ParseConfig(text));
  return Config(std::move(object));
}

const record::Json& Config::json() const { return content_->object; }

const std::string& Config::ToString() const {
  std::call_once(content_->text_once, [this] { content_->text = record::FormatConfig(content_->object); });
  return content_->text;
}

uint64_t Config::id() const {
  std::call_once(content_->id_once, [this] { content_->id = record::ConfigId(content_->object); });
  return content_->id;
}

}  // namespace telemetry::worker::codegen
