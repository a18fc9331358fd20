#include "worker/tune/tuner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/tune/row_result.h"
#include "worker/tune/trial_log.h"

namespace telemetry::worker::tune {
namespace {

using codegen::Config;
using record::Cat;
using recording::AttemptRow;

constexpr char kOverBudget[] = "the time budget was used up before its turn";
constexpr absl::Duration kStopInterval = absl::Milliseconds(100);
// A few configs (stragglers) can need a hundred times as long to compile as the others, and are hardly ever fast. A
// generation waits for them at most this long after its last other config; they are measured once they are compiled.
constexpr absl::Duration kStragglerPatience = absl::Milliseconds(500);

// Returns true if the error affects every config: there is no compiler.
bool IsOfEveryConfig(const absl::Status& compiling) {
  return absl::IsUnavailable(compiling) || absl::IsNotFound(compiling);
}

// An attempt while this process works on it.
class Attempt {
 public:
  Attempt(TuneSubject subject, TunerOptions options)
      : subject_(std::move(subject)),
        options_(std::move(options)),
        candidates_(
            options_.generate ? options_.generate
                              : [kernel = subject_.kernel](const Config& config) { return kernel->Generate(config); },
            [this](const Config& config, const absl::StatusOr<std::string>& hash) { PassOver(config, hash); }) {}

  absl::StatusOr<TuneResult> Run(TuneRecord record);

 private:
  absl::Status Begin(TuneRecord record);
  absl::Status CreateSearch(std::vector<Config> starting_points);
  // Sets the attempt_id and the start time of an earlier process in `record`, or begins the journal.
  absl::Status ResumeOrBegin(const Journal::Contents& earlier, TuneRecord* record);

  absl::Status Search();
  absl::StatusOr<std::vector<search::Trial>> RunGeneration(const std::vector<Config>& configs);
  absl::Status Submit(const std::vector<Config>& pending);
  absl::Status RunInterrupted(const std::vector<Config>& pending);
  // Runs the submitted configs in the order in which they are compiled. Returns when at most `left` stragglers are
  // still compiling.
  absl::Status RunSubmitted(size_t left);
  absl::Status RunOne(const CompiledCandidate& compiled);
  absl::Status Measure(const CompiledCandidate& compiled, AttemptRow* row);
  // Records the submitted configs without a result as not run, because the time budget is used up.
  absl::Status FinishUnrun();
  // Records a config that the search considered and that is not run: a duplicate, or one without code.
  void PassOver(const Config& config, const absl::StatusOr<std::string>& hash);

  absl::Status HoldFinal();
  // Compiles the configs and returns those that compile.
  absl::StatusOr<std::vector<CompiledCandidate>> CompileAll(const std::vector<Config>& configs);
  TuneResult Result() const;

  Config DefaultConfig() const { return subject_.kernel->config_space().Default(); }
  bool IsStopped() const { return options_.stop != nullptr && *options_.stop; }
  bool IsOverBudget() const {
    return log_->ActiveSeconds() > absl::ToDoubleSeconds(options_.time_budget * TunerOptions::kSearchPart);
  }
  void NoteTime(const std::optional<double>& perf_ms) {
    if (perf_ms) best_ms_ = std::min(best_ms_.value_or(*perf_ms), *perf_ms);
  }
  // Half of the compilers, so that the others are free for the next generation.
  size_t MostStragglers() const { return static_cast<size_t>(processes_->compilers()) / 2; }
  void ReportProgress() const;
  void ReportRounds(int rounds, SteadyTime began) const;
  void ReportGeneration() const;
  void Notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  const TuneSubject subject_;
  const TunerOptions options_;
  Candidates candidates_;
  std::unique_ptr<search::SearchAlgorithm> search_;
  std::unique_ptr<recording::AttemptRecorder> recorder_;
  std::optional<TrialLog> log_;
  bool resumed_ = false;
  std::unique_ptr<TuneProcesses> processes_;

  int64_t generation_ = 0;
  size_t proposed_ = 0;                       // configs of this generation that this process has to run
  std::map<uint64_t, AttemptRow> submitted_;  // by config id: rows without a result
  absl::Status passing_over_;                 // the first error of PassOver
  std::optional<double> best_ms_;
  // For the pace in TuneProgress.
  SteadyTime search_began_ = kLongAgo;
  int64_t run_ = 0;  // configs that this process compiled and, if they compiled, measured
};

absl::StatusOr<TuneResult> Attempt::Run(TuneRecord record) {
  RETURN_IF_ERROR(Begin(std::move(record)));
  ASSIGN_OR_RETURN(std::unique_ptr<TuneProcesses> processes, TuneProcesses::Create(subject_, options_.processes));
  processes_ = std::move(processes);
  RETURN_IF_ERROR(Search());
  RETURN_IF_ERROR(HoldFinal());
  TuneResult result = Result();
  if (result.stopped) return result;
  RETURN_IF_ERROR(log_->End(recording::CountersJson(result.counters)));
  return result;
}

absl::Status Attempt::CreateSearch(std::vector<Config> starting_points) {
  search::SearchOptions search = options_.search;
  search.starting_points = std::move(starting_points);
  search.fingerprint = [this](const Config& config) { return candidates_.Fingerprint(config); };
  ASSIGN_OR_RETURN(std::unique_ptr<search::SearchAlgorithm> made,
                   search::MakeSearch(subject_.kernel->config_space(), std::move(search)));
  search_ = std::move(made);
  return absl::OkStatus();
}

absl::Status Attempt::Begin(TuneRecord record) {
  Journal::Contents earlier = record.journal == nullptr ? Journal::Contents() : record.journal->TakeContents();
  resumed_ = !earlier.attempt_id.empty();
  std::vector<Config> starting_points = resumed_ ? earlier.starting_points : options_.search.starting_points;
  RETURN_IF_ERROR(CreateSearch(std::move(starting_points)));
  RETURN_IF_ERROR(ResumeOrBegin(earlier, &record));
  record.info.search_algorithm = search_->name();
  record.info.seed = static_cast<int64_t>(options_.search.seed);
  ASSIGN_OR_RETURN(std::unique_ptr<recording::AttemptRecorder> recorder,
                   recording::AttemptRecorder::Create(std::move(record.info), record.sinks));
  recorder_ = std::move(recorder);
  RETURN_IF_ERROR(recorder_->Begin());
  log_.emplace(recorder_.get(), record.journal, absl::Seconds(earlier.active_s));
  return log_->Replay(std::move(earlier.rows));
}

absl::Status Attempt::ResumeOrBegin(const Journal::Contents& earlier, TuneRecord* record) {
  recording::AttemptInfo& info = record->info;
  if (!resumed_) {
    if (record->journal == nullptr) return absl::OkStatus();
    return record->journal->Begin(info.attempt_id, info.started, options_.search.starting_points);
  }
  info.attempt_id = earlier.attempt_id;
  info.started = earlier.started;
  Notice(Cat("resuming the attempt of ", absl::FormatTime(earlier.started), ", which has ",
             record::Counted(earlier.rows.size(), "row")));
  return absl::OkStatus();
}

absl::Status Attempt::Search() {
  search_began_ = SteadyNow();
  std::vector<Config> configs = search_->Propose();
  for (const std::string& warning : search_->warnings()) Notice(warning);
  for (; !configs.empty(); configs = search_->Propose()) {
    if (!passing_over_.ok()) return passing_over_;
    ASSIGN_OR_RETURN(std::vector<search::Trial> trials, RunGeneration(configs));
    if (IsStopped()) return absl::OkStatus();
    ReportGeneration();
    ++generation_;
    // Replays all generations that an earlier process measured even if the budget is used up, so that the number of the
    // final comes after theirs.
    if (IsOverBudget() && generation_ >= log_->generations()) return passing_over_;
    search_->Learn(trials);
  }
  if (!passing_over_.ok()) return passing_over_;
  return RunSubmitted(/*left=*/0);
}

void Attempt::PassOver(const Config& config, const absl::StatusOr<std::string>& hash) {
  if (!passing_over_.ok() || log_->Find(config.id()) != nullptr) return;
  AttemptRow row = {.generation = generation_, .config = config};
  if (hash.ok()) {
    SetDuplicate(&row);
    row.source_hash = *hash;
  } else {
    SetNotGenerated(hash.status(), &row);
  }
  passing_over_ = log_->Finish(std::move(row));
}

absl::StatusOr<std::vector<search::Trial>> Attempt::RunGeneration(const std::vector<Config>& configs) {
  std::vector<Config> pending;
  for (const Config& config : configs) {
    const AttemptRow* row = log_->Find(config.id());
    if (row == nullptr) {
      pending.push_back(config);
    } else {
      NoteTime(row->perf_ms);
    }
  }
  RETURN_IF_ERROR(Submit(pending));
  RETURN_IF_ERROR(RunInterrupted(pending));
  RETURN_IF_ERROR(RunSubmitted(MostStragglers()));
  std::vector<search::Trial> trials;
  for (const Config& config : configs) {
    const AttemptRow* row = log_->Find(config.id());
    trials.push_back({config, row == nullptr ? std::nullopt : row->perf_ms});
  }
  return trials;
}

absl::Status Attempt::Submit(const std::vector<Config>& pending) {
  for (const Config& config : pending) {
    ASSIGN_OR_RETURN(std::shared_ptr<const Candidate> candidate, candidates_.Find(config));
    submitted_[config.id()] = {.generation = generation_, .config = config};
    processes_->queue().Submit(candidate);
  }
  proposed_ = pending.size();
  ReportProgress();
  return absl::OkStatus();
}

// Runs the config that an earlier process had started, before all others: in sidecars, the row of a started config must
// be followed by its result.
absl::Status Attempt::RunInterrupted(const std::vector<Config>& pending) {
  const std::optional<Config> interrupted = log_->Interrupted();
  if (!interrupted || std::find(pending.begin(), pending.end(), *interrupted) == pending.end()) return absl::OkStatus();
  return RunOne(processes_->queue().Await(interrupted->id()));
}

absl::Status Attempt::RunSubmitted(size_t left) {
  CompileQueue& queue = processes_->queue();
  SteadyTime last = SteadyNow();
  while (queue.under_way() > 0 && !IsStopped() && !IsOverBudget()) {
    const std::optional<CompiledCandidate> next = queue.Next(kStopInterval);
    if (next) {
      RETURN_IF_ERROR(RunOne(*next));
      ReportProgress();
      last = SteadyNow();
    } else if (queue.under_way() <= left && ElapsedSince(last) > kStragglerPatience) {
      return absl::OkStatus();
    }
  }
  processes_->CancelCompiling();
  return IsStopped() ? absl::OkStatus() : FinishUnrun();
}

absl::Status Attempt::FinishUnrun() {
  std::vector<AttemptRow> unrun;
  for (auto& [config_id, row] : submitted_) {
    SetNotRun(kOverBudget, &row);
    unrun.push_back(std::move(row));
  }
  submitted_.clear();
  if (!unrun.empty()) {
    Notice(Cat("the time budget of ", absl::FormatDuration(options_.time_budget),
               " is used up: ", record::Counted(unrun.size(), "config"), " of this generation did not run"));
  }
  return unrun.empty() ? absl::OkStatus() : log_->FinishAll(std::move(unrun));
}

absl::Status Attempt::RunOne(const CompiledCandidate& compiled) {
  const absl::Status& compiling = compiled.result.code.status();
  if (IsOfEveryConfig(compiling)) return compiling;
  AttemptRow row = submitted_[compiled.candidate->config.id()];
  if (compiling.ok()) {
    RETURN_IF_ERROR(log_->Start(row.generation, row.config));
    RETURN_IF_ERROR(Measure(compiled, &row));
  } else {
    SetNotCompiled(compiled.result, &row);
  }
  row.source_hash = compiled.candidate->source_hash;
  NoteTime(row.perf_ms);
  submitted_.erase(row.config.id());
  ++run_;
  return log_->Finish(std::move(row));
}

absl::Status Attempt::Measure(const CompiledCandidate& compiled, AttemptRow* row) {
  const double give_up_above_ms =
      best_ms_ ? *best_ms_ * options_.give_up_factor : measure::MeasureEffort().give_up_above_ms;
  ASSIGN_OR_RETURN(const measure::wire::Outcome outcome, processes_->Measure(compiled, give_up_above_ms));
  SetMeasured(outcome, v1::MeasurementDetail::STAGE_SEARCH, row);
  row->compile_time_s = compiled.result.seconds;
  return absl::OkStatus();
}

absl::Status Attempt::HoldFinal() {
  generation_ = std::max(generation_, log_->generations());
  const bool was_held = std::any_of(log_->rows().begin(), log_->rows().end(), recording::IsOfFinal);
  if (was_held || IsStopped()) return absl::OkStatus();
  const std::vector<Config> finalists = SelectFinalists(log_->rows(), options_.finalists, DefaultConfig());
  if (finalists.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<CompiledCandidate> compiled, CompileAll(finalists));
  if (compiled.empty()) return absl::OkStatus();
  const SteadyTime began = SteadyNow();
  Notice(Cat("final: measuring ", record::Counted(compiled.size(), "config"), " in turn"));
  ReportRounds(0, began);
  ASSIGN_OR_RETURN(measure::FinalOutcome outcome,
                   processes_->MeasureInterleaved(
                       compiled, {.rounds = options_.final_rounds,
                                  .limit = options_.time_budget - absl::Seconds(log_->ActiveSeconds()),
                                  .on_rounds = [this, began](int rounds) { ReportRounds(rounds, began); }}));
  RETURN_IF_ERROR(log_->FinishAll(MakeFinalRows(generation_, compiled, outcome)));
  ReportGeneration();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CompiledCandidate>> Attempt::CompileAll(const std::vector<Config>& configs) {
  // After a resume, configs may come from another version of the program, and their code may not generate or compile
  // in this one.
  const auto leave_out = [this](const Config& config, const absl::Status& status) {
    Notice(Cat("left out of the final: ", config.ToString(), ": ", status.message()));
  };
  std::vector<Config> submitted;
  for (const Config& config : configs) {
    absl::StatusOr<std::shared_ptr<const Candidate>> candidate = candidates_.Find(config);
    if (!candidate.ok()) {
      leave_out(config, candidate.status());
      continue;
    }
    processes_->queue().Submit(*candidate);
    submitted.push_back(config);
  }
  std::vector<CompiledCandidate> all;
  for (const Config& config : submitted) {
    CompiledCandidate compiled = processes_->queue().Await(config.id());
    const absl::Status& status = compiled.result.code.status();
    if (IsOfEveryConfig(status)) return status;
    if (status.ok()) {
      all.push_back(std::move(compiled));
    } else {
      leave_out(config, status);
    }
  }
  return all;
}

TuneResult Attempt::Result() const {
  TuneResult result = {.ranking = RankFinal(log_->rows(), DefaultConfig()),
                       .counters = log_->Counters(),
                       .attempt_id = recorder_->info().attempt_id,
                       .stopped = IsStopped(),
                       .resumed = resumed_};
  const compile::CompilePoolStats compiling = processes_->compile_stats();
  result.counters.unique_sources = compiling.unique_sources;
  result.counters.seconds_compiling = compiling.busy_seconds;
  result.counters.seconds_measuring = absl::ToDoubleSeconds(processes_->measuring());
  if (result.ranking.best) {
    result.counters.best_perf_ms = result.ranking.best->perf_ms;
    result.counters.best_config_id = result.ranking.best->config.id();
  }
  return result;
}

void Attempt::ReportProgress() const {
  if (!options_.on_progress) return;
  const auto is_ours = [this](const auto& submitted) { return submitted.second.generation == generation_; };
  const auto left = static_cast<size_t>(std::count_if(submitted_.begin(), submitted_.end(), is_ours));
  TuneProgress progress = {.generation = generation_,
                           .done = static_cast<int64_t>(proposed_ - left),
                           .proposed = static_cast<int64_t>(proposed_),
                           .best_ms = best_ms_};
  const double elapsed_s = absl::ToDoubleSeconds(ElapsedSince(search_began_));
  if (run_ > 0 && elapsed_s > 0) {
    progress.configs_per_s = static_cast<double>(run_) / elapsed_s;
    progress.left_s = static_cast<double>(left) / *progress.configs_per_s;
  }
  options_.on_progress(progress);
}

void Attempt::ReportRounds(int rounds, SteadyTime began) const {
  if (!options_.on_progress) return;
  TuneProgress progress = {.generation = generation_,
                           .is_final = true,
                           .done = rounds,
                           .proposed = options_.final_rounds,
                           .best_ms = best_ms_};
  if (rounds > 0) {
    progress.left_s = absl::ToDoubleSeconds(ElapsedSince(began)) / rounds * (options_.final_rounds - rounds);
  }
  options_.on_progress(progress);
}

void Attempt::ReportGeneration() const {
  if (options_.on_generation) options_.on_generation(Summarise(log_->rows(), generation_, log_->ActiveSeconds()));
}

}  // namespace

absl::StatusOr<TuneResult> Tune(TuneSubject subject, TunerOptions options, TuneRecord record) {
  return Attempt(std::move(subject), std::move(options)).Run(std::move(record));
}

}  // namespace telemetry::worker::tune
