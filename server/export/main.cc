// telemetry-export: writes a dataset as the sidecars that an autotuner would have written.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "proto/access/credential_flags.h"
#include "proto/access/grpc_log.h"
#include "proto/base/status_macros.h"
#include "proto/base/usage.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "server/export/dataset_source.h"
#include "server/export/end_signals.h"
#include "server/export/export_dataset.h"
#include "server/export/progress_bar.h"
#include "server/export/since.h"

namespace telemetry::exporter {
namespace {

constexpr char kDescription[] =
    "Writes the dataset of a database file or a running collector as sidecar files:\n"
    "BASE.csv (rows), BASE.meta.jsonl or BASE.runs.jsonl (runs), by layout BASE.ir.jsonl or BASE.sources.csv,\n"
    "BASE.attempts.jsonl (attempts), with --details BASE.details.jsonl (samples, resources and failures of rows) and\n"
    "BASE.snapshot.json (filters, counts, SHA-256 of each file). server/export/DATA.md describes all files.\n"
    "When all files are on disk, they replace those of an earlier export, and no others. They are renamed one by one:\n"
    "while BASE.incomplete exists, even after a crash, they may be from two exports. Without it, all are from one.\n"
    "A repeated export replaces them and removes BASE.incomplete. Equal datasets yield equal bytes.";

constexpr char kExamples[] =
    "Examples:\n"
    "  telemetry-export --db telemetry.db --out dataset\n"
    "  telemetry-export --collector 127.0.0.1:4747 --out out/softmax --layout pr2750 --kernel softmax\n"
    "  telemetry-export --collector collector:4747 --tls-ca ca.pem --token-file token --out out/shared\n"
    "  telemetry-export --db telemetry.db --out frames --layout keyed --details      # for pandas\n"
    "  telemetry-export --db telemetry.db --out softmax --run e0486903 --details\n"
    "  telemetry-export --db telemetry.db --out h200 --hardware 'NVIDIA H200' --status ok --since 7d --compress zstd\n"
    "\n"
    "Every option can be given as an environment variable (TELEMETRY_EXPORT_OUT for --out) and in the file of\n"
    "--config, one line such as 'out = \"dataset\"' per option. TELEMETRY_EXPORT_DB and TELEMETRY_EXPORT_COLLECTOR\n"
    "are used if neither a flag nor the file names a source.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage.";

struct Arguments {
  std::string db;
  std::string collector;
  access::Credentials credentials;
  std::string out;
  std::string layout = "helion";
  std::string kernel;
  std::string hardware;
  std::string run;
  std::string status;
  std::string since;
  std::string attempts = "all";
  std::string compress = "none";
  bool details = false;
  bool allow_empty = false;
  bool force = false;
};

constexpr char kDbVariable[] = "TELEMETRY_EXPORT_DB";
constexpr char kCollectorVariable[] = "TELEMETRY_EXPORT_COLLECTOR";

std::string VariableOf(const std::string& flag) {
  return absl::StrCat("TELEMETRY_EXPORT_", absl::StrReplaceAll(absl::AsciiStrToUpper(flag), {{"-", "_"}}));
}

CLI::Option* AddOption(CLI::App* app, const std::string& name, std::string* value, const std::string& help) {
  return app->add_option(absl::StrCat("--", name), *value, help)->envname(VariableOf(name))->check(cli::NotEmpty());
}

// Adds a flag without an environment variable. CLI11 would treat the variable as a second source that conflicts with
// the other source's flag. See SourceFromEnvironment().
CLI::Option* AddSource(CLI::App* app, const std::string& name, std::string* value, const std::string& help) {
  return AddOption(app, name, value, help)->envname("");
}

void AddSwitch(CLI::App* app, const std::string& name, bool* value, const std::string& help) {
  app->add_flag(absl::StrCat("--", name), *value, help)->envname(VariableOf(name));
}

void Declare(CLI::App* app, Arguments* arguments) {
  app->set_version_flag("--version", "telemetry-export " TELEMETRY_VERSION);
  cli::AddConfigFlag(app, "TELEMETRY_EXPORT_CONFIG");
  app->footer(kExamples);
  CLI::Option* db = AddSource(app, "db", &arguments->db, "Source: a SQLite file or postgresql://USER@HOST/DATABASE")
                        ->type_name("FILE");
  AddSource(app, "collector", &arguments->collector, "Source: address of a running collector")
      ->type_name("HOST:PORT")
      ->excludes(db);
  access::AddCredentialFlags(*app, arguments->credentials, VariableOf);
  AddOption(app, "out", &arguments->out, "Base path of the files; a trailing '.csv' is ignored")
      ->type_name("BASE")
      ->required();
  AddOption(app, "layout", &arguments->layout,
            "Format of the files: helion, pr2750, pr2699 (one run) or v1.1 (rows only), or keyed (rows, runs, attempts "
            "and details that join by key, configs as JSON)")
      ->capture_default_str();
  AddOption(app, "kernel", &arguments->kernel, "Only runs of this kernel")->type_name("NAME");
  AddOption(app, "hardware", &arguments->hardware, "Only runs on this device, such as \"NVIDIA H200\"")
      ->type_name("NAME");
  AddOption(app, "run", &arguments->run, "Only the run with this run_id, or a prefix of at least 4 digits")
      ->type_name("ID");
  AddOption(app, "status", &arguments->status, "Only rows with this status, such as ok")->type_name("STATUS");
  AddOption(
      app, "since", &arguments->since,
      "Only attempts that started at or after this time: 2025-03-01T12:00:00Z, 2025-03-01, or an age such as 24h or 7d")
      ->type_name("TIME");
  AddOption(app, "attempts", &arguments->attempts,
            "Attempts of each run and sender: all, latest (the last to arrive) or best (with the fastest final ok row, "
            "else the fastest ok row that was not stopped early)")
      ->capture_default_str();
  AddOption(app, "compress", &arguments->compress, "Compression of the files: none, gzip (.gz) or zstd (.zst)")
      ->capture_default_str();
  AddSwitch(app, "details", &arguments->details,
            "Also write BASE.details.jsonl: raw samples, resources of the compiled code, errors of its results, and "
            "reasons of failures");
  AddSwitch(app, "allow-empty", &arguments->allow_empty, "Write the files even if no row is selected");
  AddSwitch(app, "force", &arguments->force, "Also replace files that are not from an earlier export");
}

absl::StatusOr<v1::Filter::Attempts> ParseAttempts(const std::string& name) {
  if (name == "all") return v1::Filter::ATTEMPTS_ALL;
  if (name == "latest") return v1::Filter::ATTEMPTS_LATEST;
  if (name == "best") return v1::Filter::ATTEMPTS_BEST;
  return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not a choice of attempts: use all, latest or best"));
}

absl::Status CheckRun(const std::string& run) {
  const bool is_hex = run.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (run.empty() || (is_hex && run.size() >= record::kShortestRunIdPrefix && run.size() <= record::kRunIdDigits))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", run, "' is not a run_id: give its 64 lower-case hex digits or at least the first 4"));
}

absl::StatusOr<v1::Filter> ParseFilter(const Arguments& arguments) {
  v1::Filter filter;
  filter.set_kernel_name(arguments.kernel);
  filter.set_hardware(arguments.hardware);
  filter.set_status(arguments.status);
  RETURN_IF_ERROR(CheckRun(arguments.run));
  filter.set_run_id(arguments.run);
  ASSIGN_OR_RETURN(v1::Filter::Attempts attempts, ParseAttempts(arguments.attempts));
  filter.set_attempts(attempts);
  if (!arguments.since.empty()) {
    ASSIGN_OR_RETURN(absl::Time since, ParseSince(arguments.since, absl::Now()));
    filter.set_since_unix_us(absl::ToUnixMicros(since));
  }
  return filter;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads the source from the environment if neither a flag nor the configuration file names one.
absl::Status SourceFromEnvironment(Arguments* arguments) {
  if (!arguments->db.empty() || !arguments->collector.empty()) return absl::OkStatus();
  arguments->db = Variable(kDbVariable);
  arguments->collector = Variable(kCollectorVariable);
  if (arguments->db.empty() || arguments->collector.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(kDbVariable, " and ", kCollectorVariable, " are both set: give --db or --collector"));
}

absl::StatusOr<ExportOptions> ParseOptions(const Arguments& arguments) {
  if (arguments.db.empty() && arguments.collector.empty()) {
    return absl::InvalidArgumentError("no source: give --db FILE or --collector HOST:PORT");
  }
  ASSIGN_OR_RETURN(render::Layout layout, render::ParseLayout(arguments.layout));
  ASSIGN_OR_RETURN(files::Compression compression, files::ParseCompression(arguments.compress));
  ASSIGN_OR_RETURN(v1::Filter filter, ParseFilter(arguments));
  return ExportOptions{.base = BaseOfPath(arguments.out),
                       .layout = layout,
                       .compression = compression,
                       .filter = std::move(filter),
                       .details = arguments.details,
                       .allow_empty = arguments.allow_empty,
                       .force = arguments.force,
                       .on_progress = nullptr,
                       .stop = {}};
}

void PrintSummary(const ExportResult& result, const std::string& base) {
  const auto counted = [](const auto& count, const char* noun) {
    return record::Counted(static_cast<uint64_t>(count), noun);
  };
  absl::PrintF("%s: %s of %s of %s, %s;", base, counted(result.counts.measurements, "row"),
               counted(result.counts.attempts, "attempt"), counted(result.counts.runs, "run"),
               counted(result.counts.configs, "config"));
  for (const files::WrittenFile& file : result.files) absl::PrintF(" %s (%d bytes)", file.name, file.size_bytes);
  absl::PrintF("\n");
}

void WarnOfGraphs(const render::DatasetCounts& counts) {
  for (const auto& [kind, count] : counts.unknown_ir_graphs) {
    absl::FPrintF(stderr,
                  "telemetry-export: omitted %d IR graphs of the unknown kind '%s': export with a newer version\n",
                  count, kind);
  }
}

int Fail(const absl::Status& status, int exit_status) {
  absl::FPrintF(stderr, "telemetry-export: %s\n", status.message());
  if (exit_status == cli::kExitUsage) absl::FPrintF(stderr, "Run telemetry-export --help for examples.\n");
  return exit_status;
}

int Run(int argc, char** argv) {
  CLI::App app(kDescription, "telemetry-export");
  Arguments arguments;
  Declare(&app, &arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::ExitAfterParse(app, error);
  }
  if (absl::Status status = SourceFromEnvironment(&arguments); !status.ok()) return Fail(status, cli::kExitUsage);
  absl::StatusOr<ExportOptions> options = ParseOptions(arguments);
  if (!options.ok()) return Fail(options.status(), cli::kExitUsage);
  if (arguments.db.empty()) {
    const absl::Status status = access::Connection::Check(arguments.credentials, arguments.collector);
    if (!status.ok()) return Fail(status, cli::kExitUsage);
  }
  const EndSignals signals;
  options->stop = signals.stop();
  const DatasetSource source = arguments.db.empty()
                                   ? FromCollector(arguments.collector, arguments.credentials, signals.stop())
                                   : FromDatabase(arguments.db);
  absl::StatusOr<ExportResult> result;
  {
    ProgressBar bar(stderr);
    options->on_progress = [&bar](uint64_t done, uint64_t total) { bar.Update(done, total); };
    result = ExportDataset(source, *options);
  }
  if (!result.ok()) return Fail(result.status(), cli::kExitFailed);
  WarnOfGraphs(result->counts);
  PrintSummary(*result, options->base);
  return 0;
}

}  // namespace
}  // namespace telemetry::exporter

int main(int argc, char** argv) {
  telemetry::access::QuietGrpc();
  try {
    return telemetry::exporter::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "telemetry-export: %s\n", error.what());
    return 1;
  }
}
