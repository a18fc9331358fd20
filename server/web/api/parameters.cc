#include "server/web/api/parameters.h"

#include <algorithm>
#include <charconv>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::web::api {
namespace {

constexpr size_t kMostValueBytes = 300;

absl::Status Wrong(std::string_view name, std::string_view why) {
  return absl::InvalidArgumentError(record::Cat("parameter ", name, ": ", why));
}

}  // namespace

absl::Status Parameters::Allow(absl::Span<const std::string_view> names,
                               absl::Span<const std::string_view> repeated) const {
  for (const auto& [name, value] : target_.query) {
    if (value.size() > kMostValueBytes) return Wrong(name.substr(0, 40), "the value is too long");
    if (std::find(repeated.begin(), repeated.end(), name) != repeated.end()) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Wrong(name.substr(0, 40), "there is no such parameter here");
    }
    if (target_.FindAll(name).size() > 1) return Wrong(name, "it is given twice");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Parameters::Text(std::string_view name) const { return target_.Find(name); }

absl::StatusOr<std::optional<int64_t>> Parameters::Int(std::string_view name) const {
  const std::optional<std::string> text = target_.Find(name);
  if (!text.has_value()) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return Wrong(name, "the value is not an integer");
  return value;
}

absl::StatusOr<std::string> Parameters::Required(std::string_view name) const {
  std::optional<std::string> text = target_.Find(name);
  if (!text.has_value()) return Wrong(name, "it is required");
  return *std::move(text);
}

absl::StatusOr<int64_t> Parameters::Bounded(std::string_view name, int64_t usual, int64_t least, int64_t most) const {
  ASSIGN_OR_RETURN(const std::optional<int64_t> value, Int(name));
  if (!value.has_value()) return usual;
  if (*value < least || *value > most) return Wrong(name, record::Cat("the value must be ", least, " to ", most));
  return *value;
}

absl::StatusOr<std::string> Parameters::Choice(std::string_view name,
                                               std::initializer_list<std::string_view> choices) const {
  const std::optional<std::string> text = target_.Find(name);
  if (!text.has_value()) return std::string(*choices.begin());
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) return Wrong(name, "there is no such value");
  return *text;
}

absl::StatusOr<std::vector<std::string>> Parameters::All(std::string_view name, size_t most) const {
  std::vector<std::string> values = target_.FindAll(name);
  if (values.size() > most) return Wrong(name, record::Cat("more than ", most, " values"));
  return values;
}

}  // namespace telemetry::web::api
