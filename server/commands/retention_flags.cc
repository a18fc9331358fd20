#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {
namespace {

// CLI11 knows no ages in days.
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
                             "Remove attempts and rejects that have been served for longer: 90d, 12h")
                         ->envname(EnvironmentName("keep-age"))
                         ->type_name("TIME");
  CLI::Option* bytes = Size(command, "keep-bytes", rules.keep_bytes,
                            "Remove the oldest attempts until what is in use, but for rejects, fits: 20GiB");
  CLI::Option* rejects = Size(command, "keep-rejects-bytes", rules.keep_rejects_bytes,
                              "Remove a sender's oldest rejects until its others fit; 0: no limit");
  return {.age = age, .bytes = bytes, .rejects = rejects};
}

}  // namespace telemetry::collector
