#include "server/commands/command_line.h"

#include <CLI/CLI.hpp>

#include "proto/base/usage.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"
#include "server/storage/any/any_store.h"

namespace telemetry::collector {
namespace {

constexpr char kExamples[] =
    R"(  telemetry-collector serve --db telemetry.db
  telemetry-collector serve --db telemetry.db --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:4748
  telemetry-collector serve --db telemetry.db --listen 0.0.0.0:4747 --tls-cert collector.pem --tls-key collector.key \
      --tls-client-ca runners-ca.pem --tokens tokens.json
  telemetry-collector serve --db telemetry.db --keep-age 180d --keep-bytes 50GiB
  telemetry-collector serve --validate --config collector.toml
  telemetry-collector tls init --out tls --host collector.example,10.0.0.7
  telemetry-collector token add --tokens tokens.json --role writer --name ci-gpu-17 --expires 90d --out token
  telemetry-collector token list --tokens tokens.json
  telemetry-collector token revoke --tokens tokens.json 4f2a9c1e
  telemetry-collector check --db telemetry.db
  telemetry-collector check --db telemetry.db --identities
  telemetry-collector check --db telemetry.db --reseal
  telemetry-collector stats --db telemetry.db --json
  telemetry-collector backup --db telemetry.db --to telemetry-today.db
  telemetry-collector restore --from telemetry-today.db --to telemetry.db
  telemetry-collector copy --from telemetry.db --to postgresql://telemetry@db.example/telemetry
  telemetry-collector migrate --db telemetry.db
  telemetry-collector prune --db telemetry.db --keep-age 180d --keep-bytes 20GiB --dry-run
  telemetry-collector delete --db telemetry.db --origin ci/1234 --dry-run
  telemetry-collector delete --db postgresql://telemetry@db.example/telemetry --run e0486903 --run 5b1c
  telemetry-collector delete --collector collector:4747 --tls-ca ca.pem --token-file token --origin ci/1234 --yes
)";

constexpr char kNotes[] =
    R"(Each flag can also be set in the environment (TELEMETRY_COLLECTOR_DB for --db, TELEMETRY_COLLECTOR_LISTEN for --listen,
...) or in a file given with --config, with lines such as: serve.listen = "127.0.0.1:4747"
Exit status: 0 done, 1 failed, 2 wrong usage.)";

Command TokenCommandOf(const CLI::App& token) {
  if (token.got_subcommand("add")) return Command::kTokenAdd;
  return token.got_subcommand("list") ? Command::kTokenList : Command::kTokenRevoke;
}

Command CommandOf(const CLI::App& app) {
  if (app.got_subcommand("token")) return TokenCommandOf(*app.get_subcommand("token"));
  if (app.got_subcommand("tls")) return Command::kTlsInit;
  if (app.got_subcommand("check")) return Command::kCheck;
  if (app.got_subcommand("backup")) return Command::kBackup;
  if (app.got_subcommand("restore")) return Command::kRestore;
  if (app.got_subcommand("copy")) return Command::kCopy;
  if (app.got_subcommand("stats")) return Command::kStats;
  if (app.got_subcommand("prune")) return Command::kPrune;
  if (app.got_subcommand("delete")) return Command::kDelete;
  return app.got_subcommand("migrate") ? Command::kMigrate : Command::kServe;
}

}  // namespace

storage::PruneRules RulesOf(const CommandLine& line) {
  return storage::IsPostgresqlUrl(line.db) ? storage::PruneRules() : line.keep;
}

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  CLI::App app(
      "Collects the measurements of GPU kernel autotuners: accepts records over gRPC and stores each one durably once.",
      "telemetry-collector");
  app.set_version_flag("--version", "telemetry-collector " TELEMETRY_VERSION);
  cli::AddConfigFlag(&app, EnvironmentName("config"));
  app.require_subcommand(1);
  app.fallthrough();
  AddServe(app, parsed.line);
  AddMaintenance(app, parsed.line);
  AddDelete(app, parsed.line.deletion);
  AddTokens(app, parsed.line.token);
  AddTls(app, parsed.line.tls_init);
  cli::SetExamples(app, kExamples, kNotes);
  try {
    app.parse(argc, argv);
    parsed.line.command = CommandOf(app);
    if (parsed.line.command == Command::kServe) {
      if (std::string why = WhyNotServe(parsed.line); !why.empty()) throw CLI::ValidationError(why);
    }
    parsed.run = true;
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = cli::ExitAfterParse(app, error);
  }
  return parsed;
}

}  // namespace telemetry::collector
