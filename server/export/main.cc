// telemetry-export: writes a dataset as the sidecars that an autotuner would have written.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "proto/access/credential_flags.h"
#include "proto/access/grpc_log.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/cli/program.h"
#include "proto/base/since.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "server/export/dataset_source.h"
#include "server/export/export_dataset.h"
#include "server/export/progress_bar.h"

namespace telemetry::exporter {
namespace {

constexpr char kDescription[] =
    "Writes the dataset of a database file or a running collector as sidecar files:\n"
    "BASE.csv (rows), BASE.meta.jsonl or BASE.runs.jsonl (runs), by layout BASE.ir.jsonl, BASE.sources.csv or\n"
    "BASE.trace.jsonl (events), BASE.attempts.jsonl (attempts), with --details BASE.details.jsonl (samples, resources "
    "and\n"
    "failures of rows) and BASE.snapshot.json (filters, counts, SHA-256 of each file). server/export/DATA.md "
    "describes\n"
    "all files.\n"
    "When all files are on disk, they replace those of an earlier export, and no others. They are renamed one by one:\n"
    "while BASE.incomplete exists, even after a crash, they may be from two exports. Without it, all are from one.\n"
    "A repeated export replaces them and removes BASE.incomplete. Equal datasets yield equal bytes.";

constexpr char kExamples[] =
    "  telemetry-export --db telemetry.db --out dataset\n"
    "  telemetry-export --collector 127.0.0.1:4747 --out out/softmax --layout pr2750 --kernel softmax\n"
    "  telemetry-export --collector collector:4747 --tls-ca ca.pem --token-file token --out out/shared\n"
    "  telemetry-export --db telemetry.db --out frames --layout keyed --details      # for pandas\n"
    "  telemetry-export --db telemetry.db --out softmax --run e0486903 --details\n"
    "  telemetry-export --db telemetry.db --out conv --run e0486903 --layout t4                  # for Kernel Tuner\n"
    "  telemetry-export --db telemetry.db --out h200 --hardware 'NVIDIA H200' --status ok --since 7d --compress zstd\n";

constexpr char kNotes[] =
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

absl::StatusOr<v1::Filter::Attempts> ParseAttempts(const std::string& name) {
  if (name == "all") return v1::Filter::ATTEMPTS_ALL;
  if (name == "latest") return v1::Filter::ATTEMPTS_LATEST;
  if (name == "best") return v1::Filter::ATTEMPTS_BEST;
  return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not a choice of attempts: use all, latest or best"));
}

absl::Status CheckRun(const std::string& run) {
  if (run.empty() || record::IsRunIdPrefix(run)) return absl::OkStatus();
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

class ExportCommand final : public cli::Command {
 public:
  ExportCommand() : Command({.name = "", .summary = kDescription, .examples = kExamples, .notes = kNotes}) {}

  void AddFlags(cli::Flags& flags) override {
    const auto option = [&flags](const std::string& name, std::string& value, const std::string& help) {
      return flags.Add(name, value, help)->check(cli::NotEmpty());
    };
    CLI::Option* db = option("db", arguments_.db, "Source: a SQLite file or postgresql://USER@HOST/DATABASE")
                          ->envname("")
                          ->type_name("FILE");
    option("collector", arguments_.collector, "Source: address of a running collector")
        ->envname("")
        ->type_name("HOST:PORT")
        ->excludes(db);
    db_in_environment_ = flags.FromEnvironment("db");
    collector_in_environment_ = flags.FromEnvironment("collector");
    access::AddCredentialFlags(flags, arguments_.credentials);
    option("out", arguments_.out, "Base path of the files; a trailing '.csv' is ignored")
        ->type_name("BASE")
        ->required();
    option("layout", arguments_.layout,
           "Format of the files: helion, pr2750, pr2699 (one run) or v1.1 (rows only), keyed (rows, runs, attempts "
           "and details that join by key, configs as JSON), t4 or kernel-tuner-cache (one run; for Kernel Tuner)");
    option("kernel", arguments_.kernel, "Only runs of this kernel")->type_name("NAME");
    option("hardware", arguments_.hardware, "Only runs on this device, such as \"NVIDIA H200\"")->type_name("NAME");
    option("run", arguments_.run, "Only the run with this run_id, or a prefix of at least 4 digits")->type_name("ID");
    option("status", arguments_.status, "Only rows with this status, such as ok")->type_name("STATUS");
    option("since", arguments_.since,
           "Only attempts that started at or after this time: 2025-03-01T12:00:00Z, 2025-03-01, or an age such as 24h "
           "or 7d")
        ->type_name("TIME");
    option("attempts", arguments_.attempts,
           "Attempts of each run and sender: all, latest (the last to arrive) or best (with the fastest final ok row, "
           "else the fastest ok row that was not stopped early)");
    option("compress", arguments_.compress, "Compression of the files: none, gzip (.gz) or zstd (.zst)");
    flags.Switch("details", arguments_.details,
                 "Also write BASE.details.jsonl: raw samples, resources of the compiled code, errors of its results, "
                 "and reasons of failures");
    flags.Switch("allow-empty", arguments_.allow_empty, "Write the files even if no row is selected");
    flags.Switch("force", arguments_.force, "Also replace files that are not from an earlier export");
  }

  absl::StatusOr<int> Run() override {
    absl::StatusOr<ExportOptions> options = Options();
    if (!options.ok()) {
      absl::FPrintF(stderr, "telemetry-export: %s\nRun telemetry-export --help for examples.\n",
                    options.status().message());
      return cli::kExitUsage;
    }
    const cli::EndSignals signals;
    options->stop = signals.stop();
    const DatasetSource source = arguments_.db.empty()
                                     ? FromCollector(arguments_.collector, arguments_.credentials, signals.stop())
                                     : FromDatabase(arguments_.db);
    absl::StatusOr<ExportResult> result;
    {
      ProgressBar bar(stderr);
      options->on_progress = [&bar](uint64_t done, uint64_t total) { bar.Update(done, total); };
      result = ExportDataset(source, *options);
    }
    if (!result.ok()) return result.status();
    WarnOfGraphs(result->counts);
    PrintSummary(*result, options->base);
    return cli::kExitDone;
  }

 private:
  // Returns the options of the export. An error is wrong usage.
  absl::StatusOr<ExportOptions> Options() {
    RETURN_IF_ERROR(TakeSourceFromEnvironment());
    ASSIGN_OR_RETURN(ExportOptions options, ParseOptions(arguments_));
    if (arguments_.db.empty()) {
      RETURN_IF_ERROR(access::Connection::Check(arguments_.credentials, arguments_.collector));
    }
    return options;
  }

  // Reads the source from the environment if neither a flag nor the configuration file names one.
  absl::Status TakeSourceFromEnvironment() {
    if (!arguments_.db.empty() || !arguments_.collector.empty()) return absl::OkStatus();
    arguments_.db = db_in_environment_;
    arguments_.collector = collector_in_environment_;
    if (arguments_.db.empty() || arguments_.collector.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "TELEMETRY_EXPORT_DB and TELEMETRY_EXPORT_COLLECTOR are both set: give --db or --collector");
  }

  Arguments arguments_;
  std::string db_in_environment_;
  std::string collector_in_environment_;
};

}  // namespace
}  // namespace telemetry::exporter

int main(int argc, char** argv) {
  constexpr telemetry::cli::NewCommand kCommand = telemetry::cli::New<telemetry::exporter::ExportCommand>;
  telemetry::access::QuietGrpc();
  return telemetry::cli::RunProgram(
      {.name = "telemetry-export", .summary = telemetry::exporter::kDescription, .commands = {&kCommand, 1}}, argc,
      argv);
}
