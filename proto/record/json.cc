#include "proto/record/json.h"

#include "proto/record/strings.h"

namespace telemetry::record {

Json Json::Bool(bool value) {
  Json json;
  json.kind = value ? Kind::kTrue : Kind::kFalse;
  return json;
}

Json Json::Number(std::string digits) {
  Json json;
  json.kind = Kind::kNumber;
  json.text = std::move(digits);
  return json;
}

Json Json::Integer(int64_t value) { return Number(Cat(value)); }

Json Json::String(std::string value) {
  Json json;
  json.kind = Kind::kString;
  json.text = std::move(value);
  return json;
}

Json Json::Array() {
  Json json;
  json.kind = Kind::kArray;
  return json;
}

Json Json::Object() {
  Json json;
  json.kind = Kind::kObject;
  return json;
}

const Json* Json::Find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace telemetry::record
