#include "worker/tune/tune_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/codegen/promising_configs.h"
#include "worker/device/open_device.h"
#include "worker/tune/earlier_search.h"
#include "worker/tune/journal.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/recording/sidecar_log.h"
#include "worker/tune/related_rows.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;

// The deadline of each of the two queries before a search.
constexpr absl::Duration kCollectorDeadline = absl::Milliseconds(500);
// The deadline of a query to the cache, which comes before those queries, and of storing a config in it. After the
// first query without an answer no query follows.
constexpr absl::Duration kCacheDeadline = absl::Seconds(1);
constexpr size_t kJournalDigits = 16;
// The most configs with which a known run is confirmed, beside the default config.
constexpr size_t kMostConfirmed = 6;

// Returns the versions with which a config is found on this device.
record::Json VersionsOf(const device::DeviceProperties& device) {
  record::Json versions = record::Json::Object();
  versions.members = {{"telemetry-worker", record::Json::String(TELEMETRY_VERSION)},
                      {"driver", record::Json::String(device.driver_version)},
                      {"runtime", record::Json::String(device.runtime_version)}};
  return versions;
}

std::string ConfigsText(const std::vector<codegen::Config>& configs) {
  std::string text;
  for (const codegen::Config& config : configs) text += Cat(" ", record::FormatConfigId(config.id()));
  return text;
}

void Tell(const TunerOptions& tuner, const std::string& text) {
  if (tuner.on_notice) tuner.on_notice(text);
}

// Returns the configs with which a known run is confirmed: those of its finals that this version of the kernel has, and
// the default config. Empty: there are none.
std::vector<codegen::Config> ConfigsToConfirm(const KnownConfigs& known, const codegen::ConfigSpace& space) {
  std::vector<codegen::Config> configs;
  const auto add = [&configs](const codegen::Config& config) {
    const bool is_new = std::find(configs.begin(), configs.end(), config) == configs.end();
    if (is_new) configs.push_back(config);
  };
  for (const codegen::Config& config : known.of_run) {
    const absl::StatusOr<codegen::Config> normal = space.Normalize(config);
    if (normal.ok() && configs.size() < kMostConfirmed) add(*normal);
  }
  if (configs.empty()) return {};
  // The first config of an attempt is its default: `compare` and the pages rely on that.
  configs.insert(configs.begin(), space.Default());
  configs.erase(std::remove(configs.begin() + 1, configs.end(), configs.front()), configs.end());
  return configs;
}

// Returns the part of a journal's name for an effort that is not the usual one: "" for that.
std::string EffortText(const measure::MeasureEffort& effort) {
  return Cat(effort.exact ? Cat(" samples ", effort.max_samples) : "", effort.warm ? " warm" : "");
}

// Adds an effort that is not the usual one to the description of an attempt's environment.
void DescribeEffort(const measure::MeasureEffort& effort, record::Json* environment) {
  if (effort.exact) environment->members.emplace_back("samples", record::Json::Integer(effort.max_samples));
  if (effort.warm) environment->members.emplace_back("caches", record::Json::String("warm"));
}

// Returns true if another search with these options should propose the same configs: it begins with nothing that other
// attempts or a cost model know.
bool MayRepeat(const search::SearchOptions& search, const codegen::ConfigSpace& space) {
  return search.effort != search::Effort::kNone && search.finite_configs.empty() && search.related.empty() &&
         !search.predict && search.starting_points == codegen::PromisingConfigs(space);
}

std::string LimitText(const std::optional<int>& limit) { return limit ? Cat(*limit) : "none"; }

}  // namespace

std::string JournalName(const std::string& run_id, const TunerOptions& options, bool begin_with_known) {
  const search::SearchOptions& search = options.search;
  const std::string how = Cat(search.algorithm, " ", search::EffortName(search.effort), " ", search.seed, " ",
                              LimitText(search.max_generations), " ", LimitText(search.max_configs), " ",
                              absl::FormatDuration(options.time_budget), begin_with_known ? "" : " nothing known",
                              EffortText(options.processes.effort), ConfigsText(search.finite_configs));
  return Cat("attempts/", run_id.substr(0, kJournalDigits), "-", record::Sha256Hex(how).substr(0, kJournalDigits),
             ".journal");
}

TuneSession::TuneSession(SessionOptions options)
    : options_(std::move(options)), best_configs_(Cat(options_.state_dir, "/best")) {}

absl::StatusOr<std::unique_ptr<TuneSession>> TuneSession::Open(SessionOptions options) {
  if (options.collector.empty() && options.log_base.empty()) {
    return absl::InvalidArgumentError("measurements would not be stored anywhere: pass --collector, --log or both");
  }
  auto session = std::unique_ptr<TuneSession>(new TuneSession(std::move(options)));
  RETURN_IF_ERROR(session->OpenProducer());
  if (session->producer_ != nullptr) {
    session->shared_cache_ =
        std::make_unique<SharedCache>(client::CacheClientOptions{.collector = session->options_.collector,
                                                                 .credentials = session->options_.credentials,
                                                                 .deadline = kCacheDeadline});
  }
  if (session->producer_ != nullptr && session->options_.begin_with_known) {
    session->dataset_ = std::make_unique<client::DatasetClient>(
        client::DatasetClientOptions{.collector = session->options_.collector,
                                     .credentials = session->options_.credentials,
                                     .deadline = kCollectorDeadline});
  }
  return session;
}

absl::Status TuneSession::OpenProducer() {
  if (options_.collector.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::unique_ptr<client::Producer> producer,
                   client::Producer::Open({
                       .collector = options_.collector,
                       .credentials = options_.credentials,
                       .spool_dir = Cat(options_.state_dir, "/spool"),
                       .client_name = "telemetry-worker/" TELEMETRY_VERSION " tune",
                       .spool_limit_bytes = options_.spool_limit_bytes,
                       .on_notice = [this](const std::string& text) { Notice(text); },
                       .on_refused =
                           [this](const v1::Ack::Refused& record) {
                             ++refused_;
                             Notice(Cat("the collector refused record ", record.seq(), ": ", record.message()));
                           },
                   }));
  producer_ = std::move(producer);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<recording::SidecarLog>> TuneSession::OpenLog() const {
  if (options_.log_base.empty()) return nullptr;
  return recording::SidecarLog::Open({.base = options_.log_base, .on_notice = options_.on_notice});
}

absl::StatusOr<TaskResult> TuneSession::Run(const TuneTask& task) {
  TunerOptions tuner = task.tuner;
  const process::StepReport& on_step = task.tuner.processes.measure.on_step;
  // The measuring process opens the device while this process does and while the inputs are drawn.
  tuner.processes.measure.device = task.device;
  tuner.processes.opening = measure::OpeningProcess::Start(tuner.processes.measure);
  ASSIGN_OR_RETURN(DrawnInputs drawn, DrawnInputs::Begin(*task.kernel, task.problem, tuner.search.seed));
  std::shared_ptr<device::Device> device;
  {
    const process::ReportedStep step(on_step, "device");
    ASSIGN_OR_RETURN(device, device::OpenDevice(task.device));
  }
  ASSIGN_OR_RETURN(LibrarySubject subject, MakeLibrarySubject(*task.kernel, task.problem, task.settings, device,
                                                              tuner.search.seed, std::move(drawn), on_step));
  return Tune(subject.subject, std::move(subject.info), std::move(tuner), task.rules);
}

// The attempt that is about to run.
struct TuneSession::Preparation {
  std::unique_ptr<Journal> journal;
  Turn turn;
  bool confirms = false;
};

absl::StatusOr<TaskResult> TuneSession::Tune(const TuneSubject& subject, recording::AttemptInfo info,
                                             TunerOptions tuner, const AttemptRules& rules) {
  info.origin = options_.origin;
  DescribeEffort(tuner.processes.effort, &info.environment);
  tuner.processes.measure.device = subject.kernel->device()->id();
  TunerOptions chosen = tuner;
  ASSIGN_OR_RETURN(Preparation prepared, Prepare(info.run, *subject.kernel, rules, &chosen));
  const bool confirms = prepared.confirms;
  ASSIGN_OR_RETURN(TaskResult result, RunAttempt(subject, info, std::move(chosen), std::move(prepared)));
  if (!confirms || result.tuned.stopped || result.tuned.ranking.best.has_value()) return result;
  Tell(tuner, "none of the known configs gives correct results any more: searching");
  AttemptRules search = rules;
  search.search_known = true;
  info.attempt_id = recording::NewAttemptId();
  info.started = absl::Now();
  return Tune(subject, std::move(info), std::move(tuner), search);
}

absl::StatusOr<std::unique_ptr<Journal>> TuneSession::OpenJournal(const v1::Run& run, const TunerOptions& tuner) const {
  return Journal::Open(Cat(options_.state_dir, "/", JournalName(run.run_id(), tuner, options_.begin_with_known)));
}

absl::StatusOr<TuneSession::Preparation> TuneSession::Prepare(const v1::Run& run, const TunableKernel& kernel,
                                                              const AttemptRules& rules, TunerOptions* tuner) {
  const codegen::ConfigSpace& space = kernel.config_space();
  Preparation prepared;
  ASSIGN_OR_RETURN(prepared.journal, OpenJournal(run, *tuner));
  // A choice among a few configs is no search for the best one.
  if (!tuner->search.finite_configs.empty()) return prepared;
  if (options_.predict && tuner->search.effort != search::Effort::kNone) {
    tuner->search.predict = options_.predict(run, kernel.device()->properties());
  }
  if (prepared.journal->has_begun()) {
    ASSIGN_OR_RETURN(prepared.turn, TakeTurn(run.run_id(), *tuner, /*may_wait=*/false, /*may_come_back=*/false));
    return prepared;
  }
  const bool may_confirm = !rules.search_known && tuner->search.effort != search::Effort::kNone;
  KnownConfigs known = FindKnown(run);
  std::vector<codegen::Config> confirmed =
      may_confirm ? ConfigsToConfirm(known, space) : std::vector<codegen::Config>();
  if (confirmed.empty()) {
    ASSIGN_OR_RETURN(prepared.turn, TakeTurn(run.run_id(), *tuner, /*may_wait=*/true, rules.may_come_back));
    if (prepared.turn.has_waited) known = FindKnown(run);
    if (may_confirm) confirmed = ConfigsToConfirm(known, space);
  }
  if (confirmed.empty()) {
    if (tuner->search.effort != search::Effort::kNone) {
      std::vector<codegen::Config> promising = codegen::PromisingConfigs(space);
      std::move(promising.begin(), promising.end(), std::back_inserter(tuner->search.starting_points));
    }
    std::move(known.starting_points.begin(), known.starting_points.end(),
              std::back_inserter(tuner->search.starting_points));
    if (options_.suggest && tuner->search.effort != search::Effort::kNone) {
      std::vector<codegen::Config> suggested = options_.suggest(run, kernel.device()->properties(), space);
      std::move(suggested.begin(), suggested.end(), std::back_inserter(tuner->search.starting_points));
    }
    if (options_.begin_with_known && dataset_ != nullptr && tuner->search.effort != search::Effort::kNone) {
      tuner->search.related = FindRelatedRuns(run, *dataset_, options_.on_notice);
      size_t results = 0;
      for (const search::RelatedRun& related : tuner->search.related) results += related.trials.size();
      if (results > 0) {
        Tell(*tuner, Cat("the search knows ", record::Counted(results, "result"), " of ",
                         record::Counted(tuner->search.related.size(), "related run")));
      }
    }
    return prepared;
  }
  Tell(*tuner, Cat("a complete attempt at this run is known: confirming ", record::Counted(confirmed.size(), "config"),
                   " (--search searches for a better one)"));
  prepared.confirms = true;
  prepared.turn.lease.reset();
  tuner->search.algorithm = "finite";
  tuner->search.finite_configs = std::move(confirmed);
  tuner->search.max_configs.reset();
  RETURN_IF_ERROR(prepared.journal->Remove());
  ASSIGN_OR_RETURN(prepared.journal, OpenJournal(run, *tuner));
  return prepared;
}

absl::StatusOr<TaskResult> TuneSession::RunAttempt(TuneSubject subject, recording::AttemptInfo info, TunerOptions tuner,
                                                   Preparation prepared) {
  TaskResult result = {.run = info.run};
  ASSIGN_OR_RETURN(std::unique_ptr<recording::SidecarLog> log, OpenLog());
  const record::Json versions = VersionsOf(subject.kernel->device()->properties());
  const std::vector<codegen::Config> among =
      prepared.confirms ? std::vector<codegen::Config>() : tuner.search.finite_configs;
  tuner.processes.compile.code_folder = code_folder();
  const compile::CodeFolder code(code_folder());
  const EarlierSearch earlier(&code, JournalName(info.run.run_id(), tuner, options_.begin_with_known),
                              subject.kernel->device()->properties());
  const bool may_repeat = MayRepeat(tuner.search, subject.kernel->config_space());
  if (may_repeat) tuner.search.earlier = earlier.Find();
  const bool has_warm_caches = tuner.processes.effort.warm;
  ASSIGN_OR_RETURN(TuneResult tuned, tune::Tune(std::move(subject), std::move(tuner),
                                                {.info = std::move(info),
                                                 .sinks = {.producer = producer_.get(), .log = log.get()},
                                                 .journal = prepared.journal.get()}));
  result.tuned = std::move(tuned);
  if (may_repeat && !result.tuned.stopped) earlier.Put(result.tuned.results);
  if (!result.tuned.stopped) Conclude(result, among, !has_warm_caches, versions, prepared.journal.get());
  return result;
}

absl::StatusOr<Turn> TuneSession::TakeTurn(const std::string& run_id, const TunerOptions& tuner, bool may_wait,
                                           bool may_come_back) {
  if (shared_cache_ == nullptr || shared_cache_->is_absent() || !options_.longest_wait.has_value()) return Turn();
  TurnOptions turn = {.longest_wait = may_wait ? *options_.longest_wait : absl::ZeroDuration(),
                      .may_come_back = may_come_back,
                      .stop = tuner.stop};
  if (may_wait) turn.on_waiting = [&tuner](const std::string& text) { Tell(tuner, text); };
  turn.on_no_lease = [this](const std::string& text) {
    if (!said_no_lease_.exchange(true)) Notice(text);
  };
  return AwaitTurn(shared_cache_->client(), run_id, turn);
}

void TuneSession::Conclude(const TaskResult& result, const std::vector<codegen::Config>& among, bool may_share,
                           const record::Json& versions, Journal* journal) {
  absl::Status kept;
  if (const std::optional<FinalRanking::Best>& found = result.tuned.ranking.best) {
    BestConfig best = MakeBestConfig(result.run, found->config, found->perf_ms, result.tuned.attempt_id);
    best.runners_up = result.tuned.ranking.runners_up;
    kept = best_configs_.Among(among).Put(best);
    // The choice among a few configs says little to others, and times with warm caches are not comparable to theirs.
    if (among.empty() && may_share) Share(best, versions);
  }
  for (const absl::Status& status : {kept, journal->Remove()}) {
    if (!status.ok()) Notice(std::string(status.message()));
  }
}

void TuneSession::Share(const BestConfig& best, const record::Json& versions) {
  if (shared_cache_ == nullptr || shared_cache_->is_absent()) return;
  const absl::Status status = shared_cache_->Put(best, versions);
  // An older collector has no cache.
  if (status.ok() || absl::IsUnimplemented(status) || said_not_shared_.exchange(true)) return;
  Notice(Cat("the best config is not in the collector's cache: ", std::string(status.message())));
}

KnownConfigs TuneSession::FindKnown(const v1::Run& run) {
  if (!options_.begin_with_known) return {};
  return FindKnownConfigs(run, {.cache = &best_configs_,
                                .collector = dataset_.get(),
                                .shared = shared_cache_.get(),
                                .on_notice = options_.on_notice});
}

std::string TuneSession::code_folder() const { return Cat(options_.state_dir, "/code"); }

absl::Status TuneSession::Drain(absl::Duration timeout) {
  return producer_ == nullptr ? absl::OkStatus() : producer_->Drain(timeout);
}

}  // namespace telemetry::worker::tune
