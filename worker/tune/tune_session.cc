#include "worker/tune/tune_session.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/device/open_device.h"
#include "worker/tune/journal.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/recording/sidecar_log.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;

// The deadline of each of the two queries before a search.
constexpr absl::Duration kCollectorDeadline = absl::Milliseconds(500);
// The deadline of a query to the cache, which comes before those queries, and of storing a config in it. After the
// first query without an answer no query follows.
constexpr absl::Duration kCacheDeadline = absl::Seconds(1);
constexpr size_t kJournalDigits = 16;

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

std::string LimitText(const std::optional<int>& limit) { return limit ? Cat(*limit) : "none"; }

}  // namespace

std::string JournalName(const std::string& run_id, const TunerOptions& options, bool begin_with_known) {
  const search::SearchOptions& search = options.search;
  const std::string how = Cat(search.algorithm, " ", search::EffortName(search.effort), " ", search.seed, " ",
                              LimitText(search.max_generations), " ", LimitText(search.max_configs), " ",
                              absl::FormatDuration(options.time_budget), begin_with_known ? "" : " nothing known",
                              ConfigsText(search.finite_configs));
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
  ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device, device::OpenDevice(task.device));
  ASSIGN_OR_RETURN(LibrarySubject subject,
                   MakeLibrarySubject(*task.kernel, task.problem, task.settings, device, task.tuner.search.seed));
  return Tune(std::move(subject.subject), std::move(subject.info), task.tuner, task.may_come_back);
}

absl::StatusOr<TaskResult> TuneSession::Tune(TuneSubject subject, recording::AttemptInfo info, TunerOptions tuner,
                                             bool may_come_back) {
  TaskResult result = {.run = info.run};
  ASSIGN_OR_RETURN(
      std::unique_ptr<Journal> journal,
      Journal::Open(Cat(options_.state_dir, "/", JournalName(result.run.run_id(), tuner, options_.begin_with_known))));
  ASSIGN_OR_RETURN(std::unique_ptr<recording::SidecarLog> log, OpenLog());
  ASSIGN_OR_RETURN(const Turn turn, TakeTurn(result.run.run_id(), tuner, journal->has_begun(), may_come_back));

  info.origin = options_.origin;
  tuner.processes.measure.device = subject.kernel->device()->id();
  const record::Json versions = VersionsOf(subject.kernel->device()->properties());
  const std::vector<codegen::Config> among = tuner.search.finite_configs;
  if (!journal->has_begun() && among.empty()) tuner.search.starting_points = StartingPoints(result.run, tuner);
  ASSIGN_OR_RETURN(TuneResult tuned, tune::Tune(std::move(subject), std::move(tuner),
                                                {.info = std::move(info),
                                                 .sinks = {.producer = producer_.get(), .log = log.get()},
                                                 .journal = journal.get()}));
  result.tuned = std::move(tuned);
  if (!result.tuned.stopped) Conclude(result, among, versions, journal.get());
  return result;
}

absl::StatusOr<Turn> TuneSession::TakeTurn(const std::string& run_id, const TunerOptions& tuner, bool has_begun,
                                           bool may_come_back) {
  if (shared_cache_ == nullptr || shared_cache_->is_absent() || !options_.longest_wait.has_value()) return Turn();
  TurnOptions turn = {.longest_wait = has_begun ? absl::ZeroDuration() : *options_.longest_wait,
                      .may_come_back = may_come_back && !has_begun,
                      .stop = tuner.stop};
  if (!has_begun)
    turn.on_waiting = [&tuner](const std::string& text) {
      if (tuner.on_notice) tuner.on_notice(text);
    };
  turn.on_no_lease = [this](const std::string& text) {
    if (!said_no_lease_.exchange(true)) Notice(text);
  };
  return AwaitTurn(shared_cache_->client(), run_id, turn);
}

void TuneSession::Conclude(const TaskResult& result, const std::vector<codegen::Config>& among,
                           const record::Json& versions, Journal* journal) {
  absl::Status kept;
  if (const std::optional<FinalRanking::Best>& found = result.tuned.ranking.best) {
    const BestConfig best = MakeBestConfig(result.run, found->config, found->perf_ms, result.tuned.attempt_id);
    kept = best_configs_.Among(among).Put(best);
    // The choice among a few configs says little to others.
    if (among.empty()) Share(best, versions);
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

std::vector<codegen::Config> TuneSession::StartingPoints(const v1::Run& run, const TunerOptions& tuner) {
  std::vector<codegen::Config> points = tuner.search.starting_points;
  if (!options_.begin_with_known) return points;
  std::vector<codegen::Config> known = StartingPointsFor(run, {.cache = &best_configs_,
                                                               .collector = dataset_.get(),
                                                               .shared = shared_cache_.get(),
                                                               .on_notice = options_.on_notice});
  std::move(known.begin(), known.end(), std::back_inserter(points));
  return points;
}

absl::Status TuneSession::Drain(absl::Duration timeout) {
  return producer_ == nullptr ? absl::OkStatus() : producer_->Drain(timeout);
}

}  // namespace telemetry::worker::tune
