#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {
namespace {

// Parses an age; CLI11 has no type for ages in days. Returns the error message, or an empty string.
std::string ReadAge(const std::string& text, absl::Duration& age) {
  const absl::StatusOr<absl::Duration> parsed = ParseLifetime(text);
  if (parsed.ok()) age = *parsed;
  return std::string(parsed.status().message());
}

}  // namespace

KeepFlags AddKeep(CLI::App* command, storage::PruneRules& rules) {
  CLI::Option* age = command
                         ->add_option_function<std::string>(
                             "--keep-age",
                             [&rules](const std::string& text) {
                               if (std::string why = ReadAge(text, rules.keep_age); !why.empty()) {
                                 throw CLI::ValidationError("--keep-age", why);
                               }
                             },
                             "Remove attempts and rejects that have been served for longer than this: 90d, 12h")
                         ->envname(EnvironmentName("keep-age"))
                         ->type_name("TIME");
  CLI::Option* bytes = Size(command, "keep-bytes", rules.keep_bytes,
                            "Remove the oldest attempts until the used size, without rejects, is at most this: 20GiB");
  CLI::Option* rejects = Size(command, "keep-rejects-bytes", rules.keep_rejects_bytes,
                              "Remove the oldest rejects of a sender until the others use at most this; 0: no limit");
  return {.age = age, .bytes = bytes, .rejects = rejects};
}

}  // namespace telemetry::collector
