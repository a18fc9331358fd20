#include "worker/tune_flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/forward/origin.h"
#include "worker/model_flag.h"
#include "worker/tune/search/effort.h"
#include "worker/tune/search/make_search.h"

namespace telemetry::worker {

void TuneFlags::AddTo(cli::Flags& flags) {
  collector = "127.0.0.1:4747";
  flags.Add("collector", collector, "Address of the collector; empty: send nothing, --log is required")
      ->type_name("HOST:PORT");
  access::AddCredentialFlags(flags, credentials);
  state_dir = DefaultStateDir("tune");
  flags
      .Add("state-dir", state_dir,
           "Folder of the spool, journals, compiled code and best configs; used by one process at a time")
      ->type_name("DIR");
  origin = forward::OriginFromEnvironment(cli::EnvironmentVariable);
  flags.Add("origin", origin, "Label of the CI job (default: from the CI system's variables)")->type_name("LABEL");
  flags.Add("log", log, "Also write local sidecars: BASE.csv, BASE.meta.jsonl, BASE.sources.csv")->type_name("BASE");
  flags.Add("drain-timeout", drain_timeout, "Time limit for the delivery of the last records")->type_name("TIME");
  flags.Add("spool-limit-mib", spool_limit_mib, "Spool size at which tuning blocks")->type_name("MIB");
  flags.Add("effort", effort, "Size of the search")->check(CLI::IsMember({"none", "quick", "full"}));
  const std::vector<std::string_view>& names = tune::search::SearchAlgorithmNames();
  flags.Add("algorithm", algorithm, "Search algorithm (default: surrogate)")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  flags.Add("seed", seed, "Seed of the search; with equal measurements it gives the same configs");
  flags.Add("max-generations", max_generations, "Maximum number of generations (default: set by --effort)")
      ->check(CLI::PositiveNumber);
  flags.Add("max-configs", max_configs, "Maximum number of configs (default: set by --effort)")
      ->check(CLI::PositiveNumber);
  flags.Add("budget", budget, "Time limit for search and final together (default: none)")->type_name("TIME");
  flags.Add("compilers", compilers, "Number of compiler processes (0: one per processor)")
      ->check(CLI::NonNegativeNumber);
  flags.Add("compile-limit", compile_limit, "Time limit for compiling one config")->type_name("TIME");
  flags
      .Size("compile-memory", compile_memory_bytes,
            "Memory limit of a compiler process (64MiB to 1TiB); a config that needs more fails (default: 4GiB)")
      ->check(CLI::Range(uint64_t{64} << 20, uint64_t{1} << 40));
  flags.Add("run-limit", run_limit, "Time limit for one run of a config")->type_name("TIME");
  flags
      .Add(
          "samples", samples,
          "Take exactly this many samples of each config (default: 8 to 200, until the median is known to 0.5 % or for "
          "20 ms, and fewer of slow configs)")
      ->check(CLI::Range(1, 10000));
  flags.Switch("warm-caches", warm_caches,
               "Do not flush the caches before each sample; the best config is not shared through the collector");
  flags.Switch("no-known", no_known, "Neither confirm nor start from configs of earlier attempts and the collector");
  AddModel(flags, model);
  flags.Switch(
      "search", search,
      "Search also if a complete attempt at the run is known (default: measure the configs of its final again)");
  flags
      .Add("wait", wait,
           "Longest time to wait for another worker that tunes the same run and has a token of the same name, or while "
           "the collector uses no tokens; 0: tune at once")
      ->type_name("TIME");
  debug.AddTo(flags, "around each config's first launch");
  AddPairs(flags, "setting", settings, "A setting of the kernel: static_shapes=false, dot_precision=ieee");
}

absl::StatusOr<tune::TunerOptions> ParseTunerOptions(const TuneFlags& flags) {
  tune::TunerOptions options;
  ASSIGN_OR_RETURN(tune::search::Effort effort, tune::search::ParseEffort(flags.effort));
  options.search = {.algorithm = flags.algorithm,
                    .effort = effort,
                    .seed = flags.seed,
                    .max_generations = flags.max_generations,
                    .max_configs = flags.max_configs};
  const auto set_duration = [](const std::string& flag, const std::string& text, absl::Duration* to) {
    absl::StatusOr<absl::Duration> duration = ParseDuration(flag, text);
    if (duration.ok()) *to = *duration;
    return duration.status();
  };
  if (!flags.budget.empty()) {
    RETURN_IF_ERROR(set_duration("--budget", flags.budget, &options.time_budget));
  }
  absl::Status status = set_duration("--compile-limit", flags.compile_limit, &options.processes.compile.time_limit);
  status.Update(set_duration("--compile-limit", flags.compile_limit, &options.processes.load_limit));
  status.Update(set_duration("--run-limit", flags.run_limit, &options.processes.run_limit));
  if (!status.ok()) return status;
  options.processes.compile.processes = flags.compilers;
  options.processes.compile.memory_limit_bytes = flags.compile_memory_bytes;
  options.processes.measure.debug = flags.debug.Options();
  tune::measure::MeasureEffort& measuring = options.processes.effort;
  measuring.exact = flags.samples.has_value();
  if (flags.samples) measuring.min_samples = measuring.max_samples = *flags.samples;
  measuring.warm = flags.warm_caches;
  return options;
}

absl::StatusOr<runtime::Settings> ParseSettings(const std::vector<std::string>& settings) {
  std::vector<runtime::NamedSetting> named;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--setting ", setting, ": expected NAME=VALUE"));
    }
    named.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return runtime::MakeSettings(named);
}

absl::StatusOr<std::unique_ptr<tune::TuneSession>> OpenSession(const TuneFlags& flags) {
  if (!flags.collector.empty()) {
    RETURN_IF_ERROR(access::Connection::Check(flags.credentials, flags.collector));
  }
  ASSIGN_OR_RETURN(const absl::Duration wait, ParseDuration("--wait", flags.wait));
  std::optional<absl::Duration> longest_wait;
  if (wait > absl::ZeroDuration()) longest_wait = wait;
  const std::shared_ptr<const model::CostModel> model =
      LoadModelForSearch({.text = flags.model, .collector = flags.collector, .credentials = flags.credentials});
  return tune::TuneSession::Open({.collector = flags.collector,
                                  .credentials = flags.credentials,
                                  .state_dir = flags.state_dir,
                                  .origin = flags.origin,
                                  .log_base = flags.log,
                                  .begin_with_known = !flags.no_known,
                                  .longest_wait = longest_wait,
                                  .spool_limit_bytes = flags.spool_limit_mib << 20,
                                  .suggest = SuggestWith(model),
                                  .predict = PredictWith(model),
                                  .on_notice = [](const std::string& text) { spdlog::warn("{}", text); }});
}

bool DeliverAll(tune::TuneSession& session, const TuneFlags& flags, absl::Duration patience) {
  const absl::Status drained = session.Drain(patience);
  if (drained.ok()) return true;
  spdlog::error(
      "not everything reached the collector at {}: {}. Nothing is lost: the next tune or run with --state-dir {} "
      "sends it",
      flags.collector, std::string(drained.message()), flags.state_dir);
  return false;
}

std::string Describe(const tune::TaskResult& result) {
  const tune::TuneResult& tuned = result.tuned;
  std::string text = absl::StrCat(result.run.kernel_name(), " ", result.run.input_shapes(), " ", result.run.dtypes(),
                                  " on ", result.run.hardware(), ": ");
  if (tuned.stopped) return text + "stopped; rerun the command to resume";
  if (!tuned.ranking.best) return text + "no config ran with correct results";
  absl::StrAppendFormat(&text, "best %.4f ms", tuned.ranking.best->perf_ms);
  if (tuned.ranking.default_perf_ms) {
    absl::StrAppendFormat(&text, ", %.2f times as fast as the default config",
                          *tuned.ranking.default_perf_ms / tuned.ranking.best->perf_ms);
  }
  if (!tuned.ranking.ties.empty()) absl::StrAppend(&text, ", ", tuned.ranking.ties.size(), " more within the noise");
  absl::StrAppendFormat(&text, "; %s in %.1f s\n  %s",
                        record::Counted(static_cast<uint64_t>(tune::recording::ConfigsRun(tuned.counters)), "config"),
                        tuned.counters.seconds_total, tuned.ranking.best->config.ToString());
  return text;
}

}  // namespace telemetry::worker
