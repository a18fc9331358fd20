#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/time/time.h"

namespace telemetry::collector {

// TELEMETRY_COLLECTOR_WINDOW_BYTES for --window-bytes.
std::string EnvironmentName(std::string flag);

// Adds --NAME with its variable of the environment; `value` holds the default.
template <typename Value>
CLI::Option* Flag(CLI::App* app, const std::string& name, Value& value, const std::string& help) {
  return app->add_option("--" + name, value, help)->envname(EnvironmentName(name))->capture_default_str();
}

// As Flag, for one that says only yes.
CLI::Option* Switch(CLI::App* app, const std::string& name, bool& value, const std::string& help);

// A file that the command cannot do without.
CLI::Option* File(CLI::App* app, const std::string& name, std::string& value, const std::string& help);

// As 20GiB; what is written "-1" is no size.
template <typename Value>
CLI::Option* Size(CLI::App* app, const std::string& name, Value& value, const std::string& help) {
  const auto positive = [](std::string& text) {
    return text.starts_with('-') ? "'" + text + "' is no size, as in 512MiB" : std::string();
  };
  return app->add_option("--" + name, value, help)
      ->envname(EnvironmentName(name))
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->transform(CLI::Validator(positive, ""))  // looks first
      ->type_name("SIZE");
}

// From a millisecond to an hour.
CLI::Option* Seconds(CLI::App* app, const std::string& name, absl::Duration& value, const std::string& help);

}  // namespace telemetry::collector
