#include "server/collector/command_flags.h"
#include "server/collector/flag.h"

namespace telemetry::collector {
namespace {

// CLI11 knows no ages in days.
std::string ReadAge(const std::string& text, absl::Duration& age) {
  const absl::StatusOr<absl::Duration> parsed = ParseLifetime(text);
  if (parsed.ok()) age = *parsed;
  return std::string(parsed.status().message());
}

void AddPrune(CLI::App& app, CommandLine& line) {
  CLI::App* prune =
      app.add_subcommand("prune", "Remove old attempts by age or size; no collector may serve the dataset");
  File(prune, "db", line.db, "The dataset's SQLite file");
  storage::PruneRules& rules = line.prune.rules;
  CLI::Option* age = prune
                         ->add_option_function<std::string>(
                             "--keep-age",
                             [&rules](const std::string& text) {
                               if (std::string why = ReadAge(text, rules.keep_age); !why.empty()) {
                                 throw CLI::ValidationError("--keep-age", why);
                               }
                             },
                             "Remove attempts and rejects that arrived longer ago: 90d, 12h")
                         ->envname(EnvironmentName("keep-age"))
                         ->type_name("TIME");
  CLI::Option* bytes =
      Size(prune, "keep-bytes", rules.keep_bytes, "Remove the oldest attempts until what is in use fits: 20GiB");
  prune->add_flag("--also-only-attempts", rules.also_only_attempts, "Also a run's newest attempt, and the run with it");
  prune->add_flag("--dry-run", line.prune.dry_run, "Print what would be removed, also while a collector serves it");
  prune->final_callback([age, bytes] {
    if (age->count() + bytes->count() == 0) {
      throw CLI::RequiredError("prune wants a rule: --keep-age or --keep-bytes");
    }
  });
}

}  // namespace

void AddMaintenance(CLI::App& app, CommandLine& line) {
  CLI::App* check = app.add_subcommand("check", "Look for damage and print counts; status 1 when something is wrong");
  File(check, "db", line.db, "The dataset's SQLite file");
  CLI::App* stats = app.add_subcommand("stats", "Print what is in the dataset, also while a collector serves it");
  File(stats, "db", line.db, "The dataset's SQLite file");
  Switch(stats, "json", line.json, "Print one JSON object");
  CLI::App* backup = app.add_subcommand("backup", "Copy the dataset, also while a collector serves it");
  File(backup, "db", line.db, "The dataset's SQLite file");
  File(backup, "to", line.to, "The copy; must not be there yet");
  CLI::App* restore = app.add_subcommand(
      "restore",
      "Put a copy of a backup into the place of the dataset, whose files are kept; no collector may serve it");
  File(restore, "from", line.from, "The backup; it is checked first");
  File(restore, "to", line.to, "The dataset's SQLite file; what is there is renamed to FILE.replaced-TIME");
  CLI::App* migrate = app.add_subcommand(
      "migrate", "Bring the dataset to this program's schema (serve does so, too) and give its pages checksums");
  File(migrate, "db", line.db, "The dataset's SQLite file");
  AddPrune(app, line);
}

}  // namespace telemetry::collector
