#include "server/collector/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/cli/usage.h"
#include "server/collector/listen_address.h"

namespace telemetry::collector {
namespace {

constexpr char kExamples[] = R"(
Examples:
  telemetry-collector serve --db telemetry.db
  telemetry-collector serve --db telemetry.db --listen 127.0.0.1:0
  telemetry-collector check --db telemetry.db
  telemetry-collector backup --db telemetry.db --to telemetry-today.db
  telemetry-collector migrate --db telemetry.db

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

CLI::Option* Seconds(CLI::App* app, const std::string& name, absl::Duration& value, const std::string& help) {
  return app
      ->add_option_function<double>(
          "--" + name, [&value](const double& seconds) { value = absl::Seconds(seconds); }, help)
      ->envname(EnvironmentName(name))
      ->check(CLI::Range(0.001, 3600.0))
      ->default_str(std::to_string(absl::ToInt64Seconds(value)))
      ->type_name("SECONDS");
}

void AddServe(CLI::App& app, CommandLine& line) {
  CLI::App* serve =
      app.add_subcommand("serve", "Take records from producers and answer readers, until SIGTERM or SIGINT");
  File(serve, "db", line.db, "The dataset's SQLite file; made when it is not there");
  Flag(serve, "listen", line.listen, "Address to serve on; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
  Flag(serve, "log-level", line.log_level, "How much to log on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
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

Command CommandOf(const CLI::App& app) {
  if (app.got_subcommand("check")) return Command::kCheck;
  if (app.got_subcommand("backup")) return Command::kBackup;
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
  try {
    app.parse(argc, argv);
    parsed.line.command = CommandOf(app);
    parsed.run = true;
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = cli::ExitAfterParse(app, error);
  }
  return parsed;
}

}  // namespace telemetry::collector
