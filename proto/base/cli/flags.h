#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "absl/time/time.h"

namespace telemetry::cli {

// Adds flags to the parser of one command. Each flag is also read from an environment variable, such as
// TELEMETRY_COLLECTOR_WINDOW_BYTES for the flag --window-bytes of telemetry-collector, and from the file of --config.
// The values passed to the methods hold the defaults and must outlive the parser.
class Flags {
 public:
  // `program` is the name of the program. `command` must outlive the object.
  Flags(std::string program, CLI::App& command) : program_(std::move(program)), command_(command) {}

  // Adds --NAME with a value.
  template <typename Value>
  CLI::Option* Add(const std::string& name, Value& value, const std::string& help) {
    return command_.add_option("--" + name, value, help)->envname(Variable(name))->capture_default_str();
  }
  // Adds --NAME without a value. The flag sets `value` to true.
  CLI::Option* Switch(const std::string& name, bool& value, const std::string& help);
  // Adds --NAME for a file that the command requires.
  CLI::Option* File(const std::string& name, std::string& value, const std::string& help);
  // Adds --NAME for a size such as 20GiB. Refuses negative numbers.
  template <typename Value>
  CLI::Option* Size(const std::string& name, Value& value, const std::string& help) {
    return command_.add_option("--" + name, value, help)
        ->envname(Variable(name))
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
        ->transform(CLI::Validator(&CheckSize, ""))  // runs before AsSizeValue
        ->type_name("SIZE");
  }
  // Adds --NAME for a time in seconds, from a millisecond to a day.
  CLI::Option* Seconds(const std::string& name, absl::Duration& value, const std::string& help);

  // Returns the environment variable of a flag.
  std::string Variable(const std::string& flag) const;
  // Returns the value of a flag's environment variable, or an empty string. For flags that exclude each other: their
  // options must have no variable, because CLI11 would count the variable of one as a conflict with the other.
  std::string FromEnvironment(const std::string& flag) const;

  // The parser, for options of other forms.
  CLI::App& command() { return command_; }

 private:
  static std::string CheckSize(std::string& text);

  const std::string program_;
  CLI::App& command_;
};

// Returns the value of an environment variable, or an empty string if it is not set.
std::string EnvironmentVariable(const std::string& name);

// Returns a validator for a flag whose value must not be empty.
CLI::Validator NotEmpty();

}  // namespace telemetry::cli
