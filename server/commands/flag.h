#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/time/time.h"

namespace telemetry::collector {

// Returns the environment variable of a flag: TELEMETRY_COLLECTOR_WINDOW_BYTES for --window-bytes.
std::string EnvironmentName(std::string flag);

// Adds --NAME with its environment variable. `value` holds the default.
template <typename Value>
CLI::Option* Flag(CLI::App* app, const std::string& name, Value& value, const std::string& help) {
  return app->add_option("--" + name, value, help)->envname(EnvironmentName(name))->capture_default_str();
}

// Adds --NAME as Flag does, for a flag without a value that sets `value` to true.
CLI::Option* Switch(CLI::App* app, const std::string& name, bool& value, const std::string& help);

// Adds --NAME for a file that the command requires.
CLI::Option* File(CLI::App* app, const std::string& name, std::string& value, const std::string& help);

// Adds --NAME for a size such as 20GiB. Refuses negative numbers.
template <typename Value>
CLI::Option* Size(CLI::App* app, const std::string& name, Value& value, const std::string& help) {
  const auto positive = [](std::string& text) {
    return text.starts_with('-') ? "'" + text + "' is not a size such as 512MiB" : std::string();
  };
  return app->add_option("--" + name, value, help)
      ->envname(EnvironmentName(name))
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->transform(CLI::Validator(positive, ""))  // runs before AsSizeValue
      ->type_name("SIZE");
}

// Adds --NAME for a time in seconds, from a millisecond to a day.
CLI::Option* Seconds(CLI::App* app, const std::string& name, absl::Duration& value, const std::string& help);

}  // namespace telemetry::collector
