#include "worker/tune/tune_session.h"

#include <utility>

#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/tune/journal.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/record/sidecar_log.h"

namespace telemetry::worker::tune {
namespace {

using record::Cat;

// Other shapes' best configs to begin with: more would crowd out the search's own.
constexpr size_t kMostStartingPoints = 5;
constexpr size_t kJournalDigits = 16;

std::string LimitText(const std::optional<int>& limit) { return limit ? Cat(*limit) : "none"; }

}  // namespace

std::string JournalName(const std::string& run_id, const TunerOptions& options) {
  const SearchOptions& search = options.search;
  const std::string how =
      Cat(search.algorithm, " ", EffortName(search.effort), " ", search.seed, " ", LimitText(search.max_generations),
          " ", LimitText(search.max_configs), " ", absl::FormatDuration(options.time_budget));
  return Cat("attempts/", run_id.substr(0, kJournalDigits), "-", record::Sha256Hex(how).substr(0, kJournalDigits),
             ".journal");
}

TuneSession::TuneSession(SessionOptions options)
    : options_(std::move(options)), best_configs_(Cat(options_.state_dir, "/best")) {}

absl::StatusOr<std::unique_ptr<TuneSession>> TuneSession::Open(SessionOptions options) {
  if (options.collector.empty() && options.log_base.empty()) {
    return absl::InvalidArgumentError("nothing would keep what is measured: give --collector, --log or both");
  }
  auto session = std::unique_ptr<TuneSession>(new TuneSession(std::move(options)));
  if (absl::Status status = session->OpenProducer(); !status.ok()) return status;
  return session;
}

absl::Status TuneSession::OpenProducer() {
  if (options_.collector.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<client::Producer>> producer = client::Producer::Open({
      .collector = options_.collector,
      .spool_dir = Cat(options_.state_dir, "/spool"),
      .client_name = "telemetry-worker/" TELEMETRY_VERSION " tune",
      .spool_limit_bytes = options_.spool_limit_bytes,
      .on_notice = [this](const std::string& text) { Notice(text); },
      .on_refused =
          [this](const v1::Ack::Refused& record) {
            ++refused_;
            Notice(Cat("the collector refused record ", record.seq(), ": ", record.message()));
          },
  });
  if (!producer.ok()) return producer.status();
  producer_ = *std::move(producer);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SidecarLog>> TuneSession::OpenLog() const {
  if (options_.log_base.empty()) return nullptr;
  return SidecarLog::Open({.base = options_.log_base, .on_notice = options_.on_notice});
}

absl::StatusOr<TaskResult> TuneSession::Run(const TuneTask& task) {
  absl::StatusOr<std::shared_ptr<Device>> device = OpenDevice(task.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<LibrarySubject> subject =
      SubjectOf(*task.kernel, task.problem, task.settings, *device, task.tuner.search.seed);
  if (!subject.ok()) return subject.status();
  TaskResult result = {.run = subject->info.run};
  subject->info.origin = options_.origin;

  absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::Open(Cat(options_.state_dir, "/", JournalName(result.run.run_id(), task.tuner)));
  if (!journal.ok()) return journal.status();
  absl::StatusOr<std::unique_ptr<SidecarLog>> log = OpenLog();
  if (!log.ok()) return log.status();

  TunerOptions tuner = task.tuner;
  tuner.workbench.measure.device = (*device)->id();
  for (BestConfig& best : best_configs_.FindAll(result.run.kernel_name(), result.run.hardware())) {
    if (tuner.search.starting_points.size() >= kMostStartingPoints) break;
    tuner.search.starting_points.push_back(std::move(best.config));
  }
  absl::StatusOr<TuneResult> tuned = Tune(std::move(subject->subject), std::move(tuner),
                                          {.info = std::move(subject->info),
                                           .sinks = {.producer = producer_.get(), .log = log->get()},
                                           .journal = journal->get()});
  if (!tuned.ok()) return tuned.status();
  result.tuned = *std::move(tuned);
  if (!result.tuned.stopped) Conclude(result, journal->get());
  return result;
}

void TuneSession::Conclude(const TaskResult& result, Journal* journal) const {
  absl::Status kept;
  if (const std::optional<FinalRanking::Best>& best = result.tuned.ranking.best) {
    kept = best_configs_.Put(BestOf(result.run, best->config, best->perf_ms, result.tuned.attempt_id));
  }
  for (const absl::Status& status : {kept, journal->Remove()}) {
    if (!status.ok()) Notice(std::string(status.message()));
  }
}

absl::Status TuneSession::Drain(absl::Duration timeout) {
  return producer_ == nullptr ? absl::OkStatus() : producer_->Drain(timeout);
}

}  // namespace telemetry::worker::tune
