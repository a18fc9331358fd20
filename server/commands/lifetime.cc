#include "server/commands/lifetime.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace telemetry::commands {

absl::StatusOr<absl::Duration> ParseLifetime(const std::string& text) {
  constexpr int kMostDays = 36500;
  absl::Duration lifetime;
  int days = 0;
  const bool in_days = text.ends_with('d');
  if (in_days && absl::SimpleAtoi(absl::string_view(text).substr(0, text.size() - 1), &days) && days <= kMostDays) {
    lifetime = absl::Hours(24) * days;
  } else if (in_days || !absl::ParseDuration(text, &lifetime)) {
    lifetime = absl::ZeroDuration();
  }
  if (lifetime > absl::ZeroDuration() && lifetime <= absl::Hours(24) * kMostDays) return lifetime;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a time such as 90d or 12h"));
}

CLI::Validator LifetimeCheck() {
  const auto check = [](const std::string& text) {
    return text.empty() ? "" : std::string(ParseLifetime(text).status().message());
  };
  return {check, ""};
}

}  // namespace telemetry::commands
