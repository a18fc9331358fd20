#include "worker/spec/json_member.h"

#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {

using record::Cat;
using record::Json;

JsonMember JsonMember::operator[](std::string_view name) const {
  return {exists() ? value_->Find(name) : nullptr, Cat(path_, path_.empty() ? "" : ".", name)};
}

absl::StatusOr<std::string> JsonMember::Text() const {
  if (!is_text()) return Expected("a string");
  return value_->text;
}

absl::StatusOr<int64_t> JsonMember::Integer() const {
  if (!exists() || value_->kind != Json::Kind::kNumber) return Expected("an integer");
  const std::optional<int64_t> integer = record::ParseInt64(value_->text);
  if (!integer) return Error(Cat(value_->text, " is not an integer of 64 bits"));
  return *integer;
}

absl::StatusOr<double> JsonMember::Number() const {
  if (!exists() || value_->kind != Json::Kind::kNumber) return Expected("a number");
  const std::optional<double> number = record::ParseDecimal(value_->text);
  if (!number) return Error(Cat(value_->text, " is not a finite number"));
  return *number;
}

absl::StatusOr<std::vector<JsonMember>> JsonMember::Items() const {
  std::vector<JsonMember> items;
  if (!exists()) return items;
  if (!is_array()) return Expected("an array");
  for (const Json& item : value_->items) items.emplace_back(&item, Cat(path_, "[", items.size(), "]"));
  return items;
}

absl::Status JsonMember::CheckObject() const {
  return exists() && value_->kind == Json::Kind::kObject ? absl::OkStatus() : Expected("an object");
}

absl::Status JsonMember::Error(std::string_view what) const {
  return absl::InvalidArgumentError(Cat(path_, path_.empty() ? "" : ": ", what));
}

absl::Status JsonMember::Unsupported(std::string_view what) const {
  return absl::UnimplementedError(Cat(path_, ": ", what));
}

absl::Status JsonMember::At(const absl::Status& status) const {
  if (status.ok()) return status;
  return {status.code(), Cat(path_, ": ", std::string(status.message()))};
}

absl::Status JsonMember::Expected(std::string_view what) const {
  if (value_ == nullptr) return Error(Cat("missing; expected ", what));
  return Error(Cat("expected ", what));
}

}  // namespace telemetry::worker::spec
