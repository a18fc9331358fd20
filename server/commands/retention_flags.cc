#include "server/commands/retention_flags.h"

#include "server/commands/lifetime.h"

namespace telemetry::commands {
namespace {

// Parses an age; CLI11 has no type for ages in days.
void ReadAge(const std::string& text, absl::Duration& age) {
  const absl::StatusOr<absl::Duration> parsed = ParseLifetime(text);
  if (!parsed.ok()) throw CLI::ValidationError("--keep-age", std::string(parsed.status().message()));
  age = *parsed;
}

}  // namespace

RetentionOptions AddRetentionFlags(cli::Flags& flags, storage::PruneRules& rules) {
  CLI::Option* age = flags.command()
                         .add_option_function<std::string>(
                             "--keep-age", [&rules](const std::string& text) { ReadAge(text, rules.keep_age); },
                             "Remove attempts and rejects that have been served for longer than this: 90d, 12h")
                         ->envname(flags.Variable("keep-age"))
                         ->type_name("TIME");
  CLI::Option* bytes = flags.Size("keep-bytes", rules.keep_bytes,
                                  "Remove the oldest attempts until the used size, without rejects, is at most this: "
                                  "20GiB");
  CLI::Option* rejects = flags.Size("keep-rejects-bytes", rules.keep_rejects_bytes,
                                    "Remove the oldest rejects of a sender until the others use at most this; 0: no "
                                    "limit");
  return {.age = age, .bytes = bytes, .rejects = rejects};
}

}  // namespace telemetry::commands
