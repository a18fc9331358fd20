#include "server/commands/command_flags.h"
#include "server/commands/flag.h"
#include "server/storage/any_store.h"

namespace telemetry::collector {
namespace {

// Returns why a command that works on files cannot work on this; empty: it can.
std::string WhyNotAFile(const std::string& db) {
  return storage::IsPostgresqlUrl(db) ? "works on SQLite files; for a PostgreSQL server use its own tools, as pg_dump"
                                      : "";
}

// Of a command that works on files.
void SqliteFile(CLI::App* command, const std::string& name, std::string& value, const std::string& help) {
  File(command, name, value, help)->check(CLI::Validator(WhyNotAFile, ""));
}

void AddPrune(CLI::App& app, CommandLine& line) {
  CLI::App* prune =
      app.add_subcommand("prune", "Remove old attempts by age or size; no collector may serve the dataset");
  SqliteFile(prune, "db", line.db, "The dataset's SQLite file");
  storage::PruneRules& rules = line.prune.rules;
  const KeepFlags keep = AddKeep(prune, rules);
  prune->add_flag("--also-only-attempts", rules.also_only_attempts, "Also a run's newest attempt, and the run with it");
  prune->add_flag("--trust-clock", line.prune.trust_clock,
                  "Take ages from the times of arrival: the clock is right, and always was");
  prune->add_flag("--dry-run", line.prune.dry_run, "Print what would be removed, also while a collector serves it");
  prune->final_callback([keep] {
    if (keep.age->count() + keep.bytes->count() + keep.rejects->count() == 0) {
      throw CLI::RequiredError("prune wants a rule: --keep-age, --keep-bytes or --keep-rejects-bytes");
    }
  });
}

}  // namespace

void AddMaintenance(CLI::App& app, CommandLine& line) {
  CLI::App* check = app.add_subcommand("check", "Look for damage and print counts; status 1 when something is wrong");
  File(check, "db", line.db, "The dataset's SQLite file; with --identities also postgresql://USER@HOST/DATABASE");
  Switch(check, "identities", line.identities,
         "Instead recompute each run_id and config_id of its content, and print those that differ");
  Switch(check, "reseal", line.reseal,
         "Where another program changed the file: also seal pages that do not fit their checksums, if integrity_check, "
         "foreign keys and acknowledged records are right; these do not find a value that damage changed, so restore a "
         "backup where no program changed the file; no collector may serve the dataset")
      ->excludes("--identities");
  check->final_callback([&line] {
    const std::string why_not = line.identities ? "" : WhyNotAFile(line.db);
    if (!why_not.empty()) throw CLI::ValidationError("--db", why_not);
  });
  CLI::App* stats = app.add_subcommand("stats", "Print what is in the dataset, also while a collector serves it");
  SqliteFile(stats, "db", line.db, "The dataset's SQLite file");
  Switch(stats, "json", line.json, "Print one JSON object");
  CLI::App* backup = app.add_subcommand("backup", "Copy the dataset, also while a collector serves it");
  SqliteFile(backup, "db", line.db, "The dataset's SQLite file");
  File(backup, "to", line.to, "The copy; must not be there yet");
  CLI::App* restore = app.add_subcommand(
      "restore",
      "Put a copy of a backup into the place of the dataset, whose files are kept; no collector may serve it");
  File(restore, "from", line.from, "The backup; it is checked first");
  File(restore, "to", line.to, "The dataset's SQLite file; what is there is renamed to FILE.replaced-TIME");
  CLI::App* copy = app.add_subcommand("copy",
                                      "Move the dataset to another place, SQLite file or PostgreSQL server, and hold "
                                      "both against each other; run again "
                                      "after an interruption, it goes on; no collector may serve either");
  File(copy, "from", line.from, "The dataset: a SQLite file, or postgresql://USER@HOST/DATABASE; it is only read");
  File(copy, "to", line.to,
       "A SQLite file that is not there yet, or an empty database: postgresql://USER@HOST/DATABASE");
  CLI::App* migrate = app.add_subcommand(
      "migrate", "Bring the dataset to this program's schema (serve does so, too) and give its pages checksums");
  File(migrate, "db", line.db, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
  AddPrune(app, line);
}

}  // namespace telemetry::collector
