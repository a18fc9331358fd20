#include "server/collector/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "server/cli/usage.h"
#include "server/collector/listen_address.h"

namespace telemetry::collector {
namespace {

constexpr char kExamples[] = R"(
Examples:
  telemetry-collector serve --db telemetry.db
  telemetry-collector serve --db telemetry.db --listen 127.0.0.1:0
  telemetry-collector serve --db telemetry.db --listen 0.0.0.0:4747 --tls-cert collector.pem --tls-key collector.key \
      --tls-client-ca runners-ca.pem --tokens tokens.json
  telemetry-collector serve --db telemetry.db --metrics-listen 127.0.0.1:4748
  telemetry-collector token add --tokens tokens.json --role writer --name ci-gpu-17 --expires 90d >token
  telemetry-collector token list --tokens tokens.json
  telemetry-collector token revoke --tokens tokens.json 4f2a9c1e
  telemetry-collector check --db telemetry.db
  telemetry-collector backup --db telemetry.db --to telemetry-today.db
  telemetry-collector migrate --db telemetry.db
  telemetry-collector prune --db telemetry.db --keep-age 180d --keep-bytes 20GiB --dry-run

Each flag can also come from the environment (TELEMETRY_COLLECTOR_DB for --db, TELEMETRY_COLLECTOR_LISTEN for --listen,
...) or from a file given with --config, as lines like: serve.listen = "127.0.0.1:4747"
Exit status: 0 done, 1 failed, 2 wrong usage.)";

// TELEMETRY_COLLECTOR_WINDOW_BYTES for --window-bytes.
std::string EnvironmentName(std::string flag) {
  std::replace(flag.begin(), flag.end(), '-', '_');
  std::transform(flag.begin(), flag.end(), flag.begin(), [](unsigned char c) { return std::toupper(c); });
  return "TELEMETRY_COLLECTOR_" + flag;
}

template <typename Value>
CLI::Option* Flag(CLI::App* app, const std::string& name, Value& value, const std::string& help) {
  return app->add_option("--" + name, value, help)->envname(EnvironmentName(name))->capture_default_str();
}

CLI::Option* File(CLI::App* app, const std::string& name, std::string& value, const std::string& help) {
  return Flag(app, name, value, help)->required()->type_name("FILE")->check(cli::NotEmpty());
}

// Lower limits would turn a client's largest record away each time it comes.
std::string CheckRecordLimit(const std::string& text) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t bytes = 0;
  if (absl::SimpleAtoi(text, &bytes) && bytes >= kLargestRecordBytes && bytes <= kMost) return "";
  return absl::StrCat(text, " is not between ", kLargestRecordBytes, " (a client's largest record) and ", kMost);
}

std::string CheckListen(const std::string& text) {
  if (IsListenAddress(text)) return "";
  return absl::StrCat("'", text, "' is not of the form HOST:PORT, as in 127.0.0.1:4747 or [::1]:4747");
}

std::string CheckProducer(const std::string& text) {
  constexpr size_t kDigits = 32;
  if (text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos) return "";
  return absl::StrCat("'", text, "' is no producer: 32 lower-case hex digits");
}

std::string CheckLifetime(const std::string& text) {
  return text.empty() ? "" : std::string(ParseLifetime(text).status().message());
}

CLI::Option* Seconds(CLI::App* app, const std::string& name, absl::Duration& value, const std::string& help) {
  return app
      ->add_option_function<double>(
          "--" + name, [&value](const double& seconds) { value = absl::Seconds(seconds); }, help)
      ->envname(EnvironmentName(name))
      ->check(CLI::Range(0.001, 3600.0))
      ->default_str(std::to_string(absl::ToInt64Seconds(value)))
      ->type_name("SECONDS");
}

void AddSecurity(CLI::App* serve, CommandLine& line) {
  const auto file = [serve](const std::string& name, std::string& value, const std::string& help) {
    return Flag(serve, name, value, help)->type_name("FILE");
  };
  CLI::Option* cert =
      file("tls-cert", line.tls.cert, "Serve TLS with this certificate (PEM); read anew when it changes");
  CLI::Option* key = file("tls-key", line.tls.key, "Private key of the certificate (PEM)");
  cert->needs(key);
  key->needs(cert);
  file("tls-client-ca", line.tls.client_ca, "Ask clients for certificates of these authorities (PEM)")->needs(cert);
  file("tokens", line.tokens, "Ask callers for tokens of this file (see the command token); read anew when it changes");
  serve
      ->add_flag("--insecure-beyond-loopback", line.insecure_beyond_loopback,
                 "Let other machines reach a port without both TLS and tokens, or the metrics")
      ->envname(EnvironmentName("insecure-beyond-loopback"));
}

// Empty: what is asked for may be served.
std::string WhyNotServe(const CommandLine& line) {
  if (!line.metrics_listen.empty() && !access::StaysOnThisMachine(line.metrics_listen) &&
      !line.insecure_beyond_loopback) {
    return absl::StrCat("--metrics-listen ", line.metrics_listen,
                        " lets other machines read the metrics, which have neither TLS nor tokens: listen on 127.0.0.1 "
                        "or say --insecure-beyond-loopback");
  }
  if (access::StaysOnThisMachine(line.listen) || line.insecure_beyond_loopback) return "";
  if (!line.tls.cert.empty() && !line.tokens.empty()) return "";
  const char* missing = line.tokens.empty() ? "are no tokens" : "is no TLS";
  if (line.tokens.empty() && line.tls.cert.empty()) missing = "are neither TLS nor tokens";
  return absl::StrCat("--listen ", line.listen, " lets other machines in, but there ", missing,
                      ": give --tls-cert, --tls-key and --tokens, or listen on 127.0.0.1, or say "
                      "--insecure-beyond-loopback where everyone on the network may read and write");
}

void AddServe(CLI::App& app, CommandLine& line) {
  CLI::App* serve =
      app.add_subcommand("serve", "Take records from producers and answer readers, until SIGTERM or SIGINT");
  File(serve, "db", line.db, "The dataset's SQLite file; made when it is not there");
  Flag(serve, "listen", line.listen, "Address to serve on; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
  Flag(serve, "metrics-listen", line.metrics_listen, "Address of Prometheus metrics, http://HOST:PORT/metrics")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
  Flag(serve, "log-level", line.log_level, "How much to log on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  AddSecurity(serve, line);
  Limits& limits = line.limits;
  const CLI::Validator bytes(CheckRecordLimit, "");
  Flag(serve, "window-bytes", limits.window_bytes, "Record bytes that may be unacknowledged on a stream")->check(bytes);
  Flag(serve, "max-batch-bytes", limits.max_batch_bytes, "Record bytes in one batch")->check(bytes);
  Flag(serve, "in-flight-bytes", limits.in_flight_bytes, "Record bytes of all streams on their way to disk")
      ->check(CLI::PositiveNumber);
  Flag(serve, "group-records", limits.group_records, "The most records in one transaction")->check(CLI::PositiveNumber);
  Seconds(serve, "admission-timeout", limits.admission_timeout, "How long a batch waits for room under overload");
  Seconds(serve, "retry-delay", limits.retry_delay, "What a producer that is turned away is told to wait");
}

void AddOthers(CLI::App& app, CommandLine& line) {
  CLI::App* check = app.add_subcommand("check", "Look for damage and print counts; status 1 when something is wrong");
  File(check, "db", line.db, "The dataset's SQLite file");
  CLI::App* backup = app.add_subcommand("backup", "Copy the dataset, also while a collector serves it");
  File(backup, "db", line.db, "The dataset's SQLite file");
  File(backup, "to", line.to, "The copy; must not be there yet");
  CLI::App* migrate = app.add_subcommand("migrate", "Bring the dataset to this program's schema (serve does so, too)");
  File(migrate, "db", line.db, "The dataset's SQLite file");
}

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
      prune->add_option("--keep-bytes", rules.keep_bytes, "Remove the oldest attempts until what is in use fits: 20GiB")
          ->envname(EnvironmentName("keep-bytes"))
          ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
          ->type_name("SIZE");
  prune->add_flag("--also-only-attempts", rules.also_only_attempts, "Also a run's newest attempt, and the run with it");
  prune->add_flag("--dry-run", line.prune.dry_run, "Print what would be removed, also while a collector serves it");
  prune->final_callback([age, bytes] {
    if (age->count() + bytes->count() == 0) {
      throw CLI::RequiredError("prune wants a rule: --keep-age or --keep-bytes");
    }
  });
}

void AddTokens(CLI::App& app, TokenFlags& flags) {
  CLI::App* token = app.add_subcommand("token", "Add, list and revoke the tokens that serve asks for");
  token->require_subcommand(1);
  token->fallthrough();
  CLI::App* add = token->add_subcommand("add", "Add a token and print it: the only time that it is seen");
  CLI::App* list = token->add_subcommand("list", "List the tokens; not what they are, only whose");
  CLI::App* revoke = token->add_subcommand("revoke", "Make a token worthless, within a second where it is served");
  for (CLI::App* command : {add, list, revoke}) {
    command->fallthrough();
    File(command, "tokens", flags.file, "The file of tokens; add makes it");
  }
  Flag(add, "role", flags.roles, "What it allows: writer hands over records, reader reads the dataset, admin does both")
      ->required()
      ->delimiter(',')
      ->check(CLI::IsMember({"reader", "writer", "admin"}));
  Flag(add, "name", flags.name, "Who uses it: tokens of one name are one writer (default: the token's id)")
      ->type_name("NAME");
  Flag(add, "producer", flags.producers, "Bind it to this producer, 32 hex digits as in the collector's log")
      ->delimiter(',')
      ->type_name("ID")
      ->check(CLI::Validator(CheckProducer, ""));
  Flag(add, "expires", flags.expires, "How long it is valid: 90d, 12h (default: for ever)")
      ->type_name("TIME")
      ->check(CLI::Validator(CheckLifetime, ""));
  revoke->add_option("id", flags.id, "The token's id, as list shows it")->required()->type_name("ID");
}

Command TokenCommandOf(const CLI::App& token) {
  if (token.got_subcommand("add")) return Command::kTokenAdd;
  return token.got_subcommand("list") ? Command::kTokenList : Command::kTokenRevoke;
}

Command CommandOf(const CLI::App& app) {
  if (app.got_subcommand("token")) return TokenCommandOf(*app.get_subcommand("token"));
  if (app.got_subcommand("check")) return Command::kCheck;
  if (app.got_subcommand("backup")) return Command::kBackup;
  if (app.got_subcommand("prune")) return Command::kPrune;
  return app.got_subcommand("migrate") ? Command::kMigrate : Command::kServe;
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  CLI::App app("Keeps what GPU kernel autotuners measure: takes records over gRPC, stores them once, durably.",
               "telemetry-collector");
  app.footer(kExamples);
  app.set_version_flag("--version", "telemetry-collector " TELEMETRY_VERSION);
  cli::AddConfigFlag(&app, EnvironmentName("config"));
  app.require_subcommand(1);
  app.fallthrough();
  AddServe(app, parsed.line);
  AddOthers(app, parsed.line);
  AddPrune(app, parsed.line);
  AddTokens(app, parsed.line.token);
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
