#include "server/commands/command_flags.h"
#include "server/commands/flag.h"
#include "server/storage/any/any_store.h"

namespace telemetry::collector {
namespace {

// Returns the reason why a command for files cannot work on `db`, or an empty string.
std::string WhyNotAFile(const std::string& db) {
  return storage::IsPostgresqlUrl(db) ? "works on SQLite files only; for PostgreSQL use its own tools, such as pg_dump"
                                      : "";
}

// Adds the flag for the SQLite file of a command that works only on files.
void SqliteFile(CLI::App* command, const std::string& name, std::string& value, const std::string& help) {
  File(command, name, value, help)->check(CLI::Validator(WhyNotAFile, ""));
}

void AddPrune(CLI::App& app, CommandLine& line) {
  CLI::App* prune =
      app.add_subcommand("prune", "Remove old attempts by age or size, while no collector serves the dataset");
  SqliteFile(prune, "db", line.db, "The dataset's SQLite file");
  storage::PruneRules& rules = line.prune.rules;
  const KeepFlags keep = AddKeep(prune, rules);
  prune->add_flag("--also-only-attempts", rules.also_only_attempts,
                  "Also remove the newest attempt of a run, and the run with it");
  prune->add_flag("--trust-clock", line.prune.trust_clock,
                  "Compute ages from arrival times; requires a clock that has always been right");
  prune->add_flag("--dry-run", line.prune.dry_run,
                  "Print what would be removed; works while a collector serves the dataset");
  prune->final_callback([keep] {
    if (keep.age->count() + keep.bytes->count() + keep.rejects->count() == 0) {
      throw CLI::RequiredError("prune needs a rule: give --keep-age, --keep-bytes or --keep-rejects-bytes");
    }
  });
}

}  // namespace

void AddMaintenance(CLI::App& app, CommandLine& line) {
  CLI::App* check =
      app.add_subcommand("check", "Check for damage and print counts; exit status 1 if something is wrong");
  File(check, "db", line.db, "The dataset's SQLite file; with --identities also postgresql://USER@HOST/DATABASE");
  Switch(check, "identities", line.identities,
         "Instead recompute each run_id and config_id from its content, and print those that differ");
  Switch(
      check, "reseal", line.reseal,
      "After another program changed the file: also seal pages that do not match their checksums, if integrity_check, "
      "foreign keys and acknowledged records are right. These checks do not detect a damaged value, so restore a "
      "backup if no program changed the file. No collector may serve the dataset")
      ->excludes("--identities");
  check->final_callback([&line] {
    const std::string why_not = line.identities ? "" : WhyNotAFile(line.db);
    if (!why_not.empty()) throw CLI::ValidationError("--db", why_not);
  });
  CLI::App* stats = app.add_subcommand("stats", "Print statistics of the dataset; works while a collector serves it");
  SqliteFile(stats, "db", line.db, "The dataset's SQLite file");
  Switch(stats, "json", line.json, "Print one JSON object");
  CLI::App* backup = app.add_subcommand("backup", "Copy the dataset; works while a collector serves it");
  SqliteFile(backup, "db", line.db, "The dataset's SQLite file");
  File(backup, "to", line.to, "The copy; must not exist");
  CLI::App* restore = app.add_subcommand(
      "restore", "Replace the dataset by a copy of a backup and keep the old files; no collector may serve it");
  File(restore, "from", line.from, "The backup; it is checked first");
  File(restore, "to", line.to, "The dataset's SQLite file; an existing one is renamed to FILE.replaced-TIME");
  CLI::App* copy = app.add_subcommand("copy",
                                      "Copy the dataset to another SQLite file or PostgreSQL database and compare "
                                      "both; after an interruption, run it "
                                      "again to resume; no collector may serve either");
  File(copy, "from", line.from, "The dataset to read: a SQLite file, or postgresql://USER@HOST/DATABASE");
  File(copy, "to", line.to,
       "The copy: a SQLite file that does not exist, or an empty database postgresql://USER@HOST/DATABASE");
  CLI::App* migrate = app.add_subcommand(
      "migrate", "Migrate the dataset to this program's schema (serve does so too) and add page checksums");
  File(migrate, "db", line.db, "The dataset's SQLite file, or postgresql://USER@HOST/DATABASE");
  AddPrune(app, line);
}

}  // namespace telemetry::collector
