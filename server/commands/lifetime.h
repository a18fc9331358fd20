#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::commands {

// Parses a lifetime: "90d", "12h", "1h30m". Returns INVALID_ARGUMENT for other texts, and for a lifetime that is not
// positive.
absl::StatusOr<absl::Duration> ParseLifetime(const std::string& text);

// Returns a validator that accepts the texts that ParseLifetime accepts, and an empty text.
CLI::Validator LifetimeCheck();

}  // namespace telemetry::commands
