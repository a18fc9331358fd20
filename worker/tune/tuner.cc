#include "worker/tune/tuner.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/tune/least_time.h"
#include "worker/tune/measure_line.h"
#include "worker/tune/proposer.h"
#include "worker/tune/row_result.h"
#include "worker/tune/trial_log.h"

namespace telemetry::worker::tune {
namespace {

using codegen::Config;
using record::Cat;
using recording::AttemptRow;

constexpr char kOverBudget[] = "the time budget was used up before its turn";
constexpr absl::Duration kStopInterval = absl::Milliseconds(100);
// The most configs that the search proposes at once, after the first ones. Fewer give it more results for each
// proposal, but take more of its time.
constexpr int kMostAtOnce = 8;
// The compiled configs that wait for the device: two, so that there is one also if the tuner takes a proposal or waits
// for the disk while a fast config is measured.
constexpr size_t kMostInLine = 2;
// The configs for each compiler that are proposed by a search that does not learn. Enough of them are compiled, while
// others wait for a compiler, that neither the compilers nor the measuring process wait.
constexpr int kAhead = 4;

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
        candidates_([this](const Config& config) { return GenerateWorthwhile(config); },
                    [this](const Config& config, const absl::StatusOr<std::string>& hash) {
                      passed_over_.push_back({config, hash});
                    }) {}

  absl::StatusOr<TuneResult> Run(TuneRecord record);

 private:
  absl::Status Begin(TuneRecord record);
  // A resumed search begins with the configs and results in the journal.
  absl::Status CreateSearch(const Journal::Contents& begun);
  // Sets the attempt_id and the start time of an earlier process in `record`, or begins the journal.
  absl::Status ResumeOrBegin(const Journal::Contents& earlier, TuneRecord* record);

  absl::StatusOr<codegen::GeneratedKernel> Generate(const Config& config) const {
    return options_.generate ? options_.generate(config) : subject_.kernel->Generate(config);
  }
  // Returns OUT_OF_RANGE for a config of a search that is known to be slow.
  absl::StatusOr<codegen::GeneratedKernel> GenerateWorthwhile(const Config& config);
  // Returns SearchOptions::least_ms.
  double LeastMsOf(const Config& config);
  // Returns SearchOptions::code_size.
  codegen::CodeSize CodeSizeOf(const Config& config);

  absl::Status Search();
  void BeginLine();
  absl::Status ReplayProposals();
  bool WantsProposal() const;
  void Ask(size_t learnt);
  // Returns one of log_->results().
  search::Trial TrialOf(size_t result) const {
    const AttemptRow& row = log_->rows()[log_->results()[result]];
    return {row.config, row.perf_ms, row.compile_time_s};
  }
  // Waits for the proposal and submits its configs. The log has those of earlier processes already. If a config is
  // being measured, the configs that are not run are recorded after its result.
  absl::Status TakeProposal(bool is_repeated);
  bool HasProposal() const { return proposer_->is_asked() && proposer_->Await(absl::ZeroDuration()); }
  absl::Status Submit(const std::vector<Config>& configs);
  // Returns rows for the configs that the search considered and that are not run: duplicates, and those without code.
  // Configs that are known to be slow have no row.
  std::vector<AttemptRow> TakePassedOver();
  absl::Status RecordUnmeasured();
  absl::Status RunInterrupted();
  // Runs the default config before all others of the attempt, also if these compile faster: `compare` and the pages
  // take the first result of an attempt for that of its default config.
  absl::Status RunDefault();
  // Moves compiled configs to the line of those that are measured, as long as it has room. The device then waits
  // neither for proposals nor for the journal.
  absl::Status FillLine();
  // Adds the config to the line. If it did not compile, records that.
  absl::Status Enter(CompiledCandidate compiled);
  absl::Status Record(MeasureLine::Result measured);
  // Returns the row of a submitted config, which is submitted no longer.
  AttemptRow TakeSubmitted(const CompiledCandidate& compiled);
  // Waits until a result, a proposal or, if the line has room, a compiled config is there, or until the tuner should
  // look whether it was stopped.
  void AwaitEvent();
  // Ends the line: waits for the config that is being measured and records its result.
  absl::Status EndLine();
  // Records the submitted configs without a result as not run, because the time budget is used up.
  absl::Status FinishUnrun();

  absl::Status HoldFinal();
  // Compiles the configs and returns those that compile.
  absl::StatusOr<std::vector<CompiledCandidate>> CompileAll(const std::vector<Config>& configs);
  TuneResult Result() const;

  Config DefaultConfig() const { return subject_.kernel->config_space().Default(); }
  bool IsStopped() const { return options_.stop != nullptr && *options_.stop; }
  bool IsDebugged() const { return options_.processes.measure.debug.is_on(); }
  bool IsOverBudget() const {
    return log_->ActiveSeconds() > absl::ToDoubleSeconds(options_.time_budget * TunerOptions::kSearchPart);
  }
  void NoteTime(const std::optional<double>& perf_ms) {
    if (!perf_ms) return;
    best_ms_ = std::min(best_ms_.value_or(*perf_ms), *perf_ms);
    if (line_ != nullptr) line_->NoteTime(*perf_ms);
  }
  int MostAtOnce() const {
    const int compilers = processes_->compilers();
    return search::Learns(options_.search) ? std::clamp(compilers / 2, 1, kMostAtOnce) : kAhead * compilers / 2;
  }
  void ReportProgress() const;
  void ReportRounds(int rounds, SteadyTime began) const;
  // Reports the generations before `end` whose configs all have results, in their order.
  void ReportGenerations(int64_t end);
  void Notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  const TuneSubject subject_;
  const TunerOptions options_;
  Candidates candidates_;
  std::unique_ptr<recording::AttemptRecorder> recorder_;
  std::optional<TrialLog> log_;
  bool resumed_ = false;
  std::unique_ptr<TuneProcesses> processes_;
  std::unique_ptr<MeasureLine> line_;  // during the search; ends before processes_, which it wakes
  std::deque<uint64_t> in_line_;       // the ids of the configs that were added to the line and have no row

  // A config that the search considered and that is not run.
  struct PassedOver {
    Config config;
    absl::StatusOr<std::string> source_hash;
  };
  struct CodeOfDefault {
    int tensor_core_dots = 0;
    bool spills = false;
  };
  std::optional<CodeOfDefault> of_default_;           // of the default config; unset: not known yet
  std::vector<PassedOver> passed_over_;               // belongs to the proposer while it is asked
  absl::flat_hash_set<std::string> proposed_hashes_;  // of the sources of proposed configs
  // Rows that may not be recorded yet: in sidecars, the result of a config must follow the row of its start.
  std::vector<AttemptRow> unmeasured_;
  std::vector<int64_t> earlier_learnt_;  // the proposals of earlier processes

  int64_t generation_ = 0;                    // of the last proposal
  int64_t reported_ = 0;                      // generations that were reported
  size_t proposed_ = 0;                       // configs of this generation that this process has to run
  size_t learnt_ = 0;                         // results that the search has learnt or is learning
  std::optional<size_t> learnt_in_vain_;      // results after which the search proposed nothing, if it did so last
  std::map<uint64_t, AttemptRow> submitted_;  // by config id: rows without a result
  std::optional<double> best_ms_;
  // For the pace in TuneProgress.
  SteadyTime search_began_ = kLongAgo;
  int64_t run_ = 0;                     // configs that this process compiled and, if they compiled, measured
  std::unique_ptr<Proposer> proposer_;  // the last member: its thread uses the others
};

absl::StatusOr<TuneResult> Attempt::Run(TuneRecord record) {
  ASSIGN_OR_RETURN(processes_, TuneProcesses::Create(subject_, options_.processes));
  RETURN_IF_ERROR(Begin(std::move(record)));
  RETURN_IF_ERROR(Search());
  RETURN_IF_ERROR(HoldFinal());
  TuneResult result = Result();
  if (result.stopped) return result;
  RETURN_IF_ERROR(log_->End(recording::CountersJson(result.counters)));
  return result;
}

absl::Status Attempt::CreateSearch(const Journal::Contents& begun) {
  search::SearchOptions search = options_.search;
  if (resumed_) {
    search.starting_points = begun.starting_points;
    search.related = begun.related;
    search.earlier = begun.earlier;
  }
  if (!search.most_at_once) search.most_at_once = MostAtOnce();
  search.fingerprint = [this](const Config& config) { return candidates_.Fingerprint(config); };
  search.least_ms = [this](const Config& config) { return LeastMsOf(config); };
  search.code_size = [this](const Config& config) { return CodeSizeOf(config); };
  ASSIGN_OR_RETURN(std::unique_ptr<search::SearchAlgorithm> made,
                   search::MakeSearch(subject_.kernel->config_space(), std::move(search)));
  proposer_ = std::make_unique<Proposer>(
      std::move(made), [this] { processes_->queue().Wake(); }, options_.processes.measure.on_step);
  return absl::OkStatus();
}

absl::Status Attempt::Begin(TuneRecord record) {
  Journal::Contents earlier = record.journal == nullptr ? Journal::Contents() : record.journal->TakeContents();
  resumed_ = !earlier.attempt_id.empty();
  RETURN_IF_ERROR(CreateSearch(earlier));
  RETURN_IF_ERROR(ResumeOrBegin(earlier, &record));
  record.info.search_algorithm = proposer_->search().name();
  record.info.seed = static_cast<int64_t>(options_.search.seed);
  ASSIGN_OR_RETURN(std::unique_ptr<recording::AttemptRecorder> recorder,
                   recording::AttemptRecorder::Create(std::move(record.info), record.sinks));
  recorder_ = std::move(recorder);
  RETURN_IF_ERROR(recorder_->Begin());
  earlier_learnt_ = std::move(earlier.learnt);
  log_.emplace(recorder_.get(), record.journal, absl::Seconds(earlier.active_s));
  return log_->Replay(std::move(earlier.rows));
}

absl::Status Attempt::ResumeOrBegin(const Journal::Contents& earlier, TuneRecord* record) {
  recording::AttemptInfo& info = record->info;
  if (!resumed_) {
    if (record->journal == nullptr) return absl::OkStatus();
    return record->journal->Begin(info.attempt_id, info.started, options_.search.starting_points,
                                  options_.search.related, options_.search.earlier);
  }
  info.attempt_id = earlier.attempt_id;
  info.started = earlier.started;
  Notice(Cat("resuming the attempt of ", absl::FormatTime(earlier.started), ", which has ",
             record::Counted(earlier.rows.size(), "row")));
  return absl::OkStatus();
}

absl::StatusOr<codegen::GeneratedKernel> Attempt::GenerateWorthwhile(const Config& config) {
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, Generate(config));
  // Configs that the user chose are run.
  if (!options_.search.finite_configs.empty()) return generated;
  if (!of_default_) {
    const absl::StatusOr<codegen::GeneratedKernel> plain = subject_.kernel->Generate(DefaultConfig());
    of_default_ = plain.ok() ? CodeOfDefault{.tensor_core_dots = plain->tensor_core_dots, .spills = plain->spills}
                             : CodeOfDefault{.spills = true};
  }
  if (generated.tensor_core_dots < of_default_->tensor_core_dots) {
    return absl::OutOfRangeError("its blocks are too small for the tensor cores, which the default config uses");
  }
  if (generated.spills && !of_default_->spills) {
    return absl::OutOfRangeError(
        "a thread has too few registers for its blocks, and enough for those of the default config");
  }
  return generated;
}

double Attempt::LeastMsOf(const Config& config) {
  const absl::StatusOr<std::shared_ptr<const Candidate>> candidate = candidates_.Find(config);
  if (!candidate.ok()) return 0;
  return LeastMs((*candidate)->generated.loaded_bytes, subject_.kernel->device()->properties());
}

codegen::CodeSize Attempt::CodeSizeOf(const Config& config) {
  const absl::StatusOr<std::shared_ptr<const Candidate>> candidate = candidates_.Find(config);
  return candidate.ok() ? (*candidate)->size : codegen::CodeSize();
}

absl::Status Attempt::Search() {
  search_began_ = SteadyNow();
  BeginLine();
  RETURN_IF_ERROR(ReplayProposals());
  for (const std::string& warning : proposer_->search().warnings()) Notice(warning);
  RETURN_IF_ERROR(RunInterrupted());
  RETURN_IF_ERROR(RunDefault());
  while (!IsStopped() && !IsOverBudget()) {
    RETURN_IF_ERROR(FillLine());
    if (std::optional<MeasureLine::Result> measured = line_->Take()) {
      RETURN_IF_ERROR(Record(*std::move(measured)));
      continue;
    }
    // A search that learns waits for the first result.
    const bool may_ask = line_->size() == 0 || !log_->results().empty() || !search::Learns(options_.search);
    if (may_ask && WantsProposal()) Ask(log_->results().size());
    if (HasProposal()) {
      RETURN_IF_ERROR(TakeProposal(/*is_repeated=*/false));
      continue;
    }
    const bool is_idle = processes_->queue().under_way() == 0 && line_->size() == 0;
    if (is_idle && !proposer_->is_asked()) break;  // the search is over
    AwaitEvent();
  }
  RETURN_IF_ERROR(EndLine());
  // The time is over: the last proposal is not used.
  if (proposer_->is_asked()) proposer_->Take();
  passed_over_.clear();
  processes_->CancelCompiling();
  if (IsStopped()) return absl::OkStatus();
  RETURN_IF_ERROR(FinishUnrun());
  ReportGenerations(generation_ + 1);
  return absl::OkStatus();
}

// Repeats the proposals of earlier processes. If there are none, asks for the first one.
absl::Status Attempt::ReplayProposals() {
  const std::vector<int64_t> earlier = std::move(earlier_learnt_);
  for (const int64_t learnt : earlier) {
    Ask(std::min(static_cast<size_t>(learnt), log_->results().size()));
    RETURN_IF_ERROR(TakeProposal(/*is_repeated=*/true));
  }
  if (!earlier.empty()) return absl::OkStatus();
  Ask(0);
  return TakeProposal(/*is_repeated=*/false);
}

// Returns true if the search should propose more: the compilers would be idle soon, and the search can know more than
// when it had nothing to propose.
bool Attempt::WantsProposal() const {
  if (proposer_->is_asked()) return false;
  // One for each compiler, and as many as they compile while the search computes: on 16 cores, half of them. With more,
  // each proposal would know fewer results.
  const int compilers = processes_->compilers();
  const int enough = search::Learns(options_.search) ? compilers + compilers / 2 : kAhead * compilers;
  const size_t compiled = in_line_.empty() ? 0 : in_line_.size() - 1;  // and waiting for the device
  if (processes_->queue().under_way() + compiled > static_cast<size_t>(enough)) return false;
  return !learnt_in_vain_ || log_->results().size() > *learnt_in_vain_;
}

void Attempt::Ask(size_t learnt) {
  std::vector<search::Trial> trials;
  for (; learnt_ < learnt; ++learnt_) trials.push_back(TrialOf(learnt_));
  proposer_->Ask(std::move(trials));
}

absl::Status Attempt::TakeProposal(bool is_repeated) {
  const Proposer::Proposal proposal = proposer_->Take();
  if (proposal.configs.empty()) {
    learnt_in_vain_ = learnt_;
    return RecordUnmeasured();
  }
  learnt_in_vain_.reset();
  if (proposal.generation != generation_) proposed_ = 0;
  generation_ = proposal.generation;
  if (!is_repeated) log_->Propose(static_cast<int64_t>(learnt_));
  for (const Config& config : proposal.configs) {
    const absl::StatusOr<std::shared_ptr<const Candidate>> candidate = candidates_.Find(config);
    if (candidate.ok()) proposed_hashes_.insert((*candidate)->source_hash);
  }
  RETURN_IF_ERROR(RecordUnmeasured());
  RETURN_IF_ERROR(Submit(proposal.configs));
  ReportGenerations(generation_);
  return absl::OkStatus();
}

absl::Status Attempt::RecordUnmeasured() {
  for (AttemptRow& row : TakePassedOver()) unmeasured_.push_back(std::move(row));
  if (!in_line_.empty() || unmeasured_.empty()) return absl::OkStatus();
  return log_->FinishAll(std::exchange(unmeasured_, {}));
}

std::vector<AttemptRow> Attempt::TakePassedOver() {
  std::vector<AttemptRow> rows;
  for (PassedOver& passed : passed_over_) {
    if (log_->Find(passed.config.id()) != nullptr) continue;
    // The search considers thousands of these, and their rows would say nothing.
    if (absl::IsOutOfRange(passed.source_hash.status())) continue;
    // A config with the code of one that was too slow to be proposed.
    if (passed.source_hash.ok() && !proposed_hashes_.contains(*passed.source_hash)) continue;
    AttemptRow row = {.generation = generation_, .config = std::move(passed.config)};
    if (passed.source_hash.ok()) {
      SetDuplicate(&row);
      row.source_hash = *passed.source_hash;
    } else {
      SetNotGenerated(passed.source_hash.status(), &row);
    }
    rows.push_back(std::move(row));
  }
  passed_over_.clear();
  return rows;
}

absl::Status Attempt::Submit(const std::vector<Config>& configs) {
  for (const Config& config : configs) {
    if (const AttemptRow* row = log_->Find(config.id()); row != nullptr) {
      NoteTime(row->perf_ms);
      continue;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<const Candidate> candidate, candidates_.Find(config));
    submitted_[config.id()] = {.generation = generation_, .config = config};
    processes_->queue().Submit(candidate);
    ++proposed_;
  }
  ReportProgress();
  return absl::OkStatus();
}

// Runs the config that an earlier process had started, before all others: in sidecars, the row of a started config must
// be followed by its result.
absl::Status Attempt::RunInterrupted() {
  const std::optional<Config> interrupted = log_->Interrupted();
  if (!interrupted || !submitted_.contains(interrupted->id())) return absl::OkStatus();
  return Enter(processes_->queue().Await(interrupted->id()));
}

absl::Status Attempt::RunDefault() {
  const uint64_t id = DefaultConfig().id();
  if (!log_->results().empty() || !in_line_.empty() || !submitted_.contains(id) || IsStopped() || IsOverBudget())
    return absl::OkStatus();
  return Enter(processes_->queue().Await(id));
}

void Attempt::BeginLine() {
  // Values are debugged one launch at a time.
  const size_t most_waiting = IsDebugged() ? 0 : kMostInLine;
  const auto measure = [this](const CompiledCandidate& candidate, double best_ms,
                              const std::optional<CompiledCandidate>& next) {
    return processes_->Measure(candidate, best_ms * options_.give_up_factor, best_ms * options_.far_factor, next);
  };
  line_ = std::make_unique<MeasureLine>(most_waiting, measure, [this] { processes_->queue().Wake(); });
}

absl::Status Attempt::FillLine() {
  while (line_->HasRoom() && processes_->queue().under_way() > 0) {
    std::optional<CompiledCandidate> next = processes_->queue().Poll();
    if (!next) break;
    RETURN_IF_ERROR(Enter(*std::move(next)));
  }
  return absl::OkStatus();
}

absl::Status Attempt::Enter(CompiledCandidate compiled) {
  if (!compiled.result.code.ok()) {
    if (IsOfEveryConfig(compiled.result.code.status())) return compiled.result.code.status();
    AttemptRow row = TakeSubmitted(compiled);
    SetNotCompiled(compiled.result, &row);
    unmeasured_.push_back(std::move(row));
    if (in_line_.empty()) RETURN_IF_ERROR(log_->FinishAll(std::exchange(unmeasured_, {})));
    ReportProgress();
    return absl::OkStatus();
  }
  const AttemptRow& row = submitted_[compiled.candidate->config.id()];
  const bool is_first = in_line_.empty();
  in_line_.push_back(row.config.id());
  // The journal's fsync takes as long as a measurement on a fast disk. Values are debugged on one thread.
  if (!IsDebugged()) line_->Add(compiled);
  if (is_first) RETURN_IF_ERROR(log_->Start(row.generation, row.config));
  if (IsDebugged()) line_->Add(std::move(compiled));
  return absl::OkStatus();
}

AttemptRow Attempt::TakeSubmitted(const CompiledCandidate& compiled) {
  const auto submitted = submitted_.find(compiled.candidate->config.id());
  AttemptRow row = std::move(submitted->second);
  submitted_.erase(submitted);
  row.source_hash = compiled.candidate->source_hash;
  ++run_;
  return row;
}

absl::Status Attempt::Record(MeasureLine::Result measured) {
  RETURN_IF_ERROR(measured.outcome.status());
  const SteadyTime begin = SteadyNow();
  const process::StepReport& report = options_.processes.measure.on_step;
  AttemptRow row = TakeSubmitted(measured.candidate);
  const absl::Cleanup record = [&report, begin, config = report ? row.config.ToString() : std::string()] {
    if (report) report("record", config, begin, SteadyNow());
  };
  SetMeasured(*measured.outcome, v1::MeasurementDetail::STAGE_SEARCH, &row);
  row.compile_time_s = measured.candidate.result.seconds;
  NoteTime(row.perf_ms);
  in_line_.pop_front();
  std::optional<Beginning> next;
  if (!in_line_.empty()) {
    const AttemptRow& begun = submitted_[in_line_.front()];
    next = {.generation = begun.generation, .config = begun.config};
  }
  RETURN_IF_ERROR(log_->Finish(std::move(row), next ? &*next : nullptr, std::exchange(unmeasured_, {})));
  ReportProgress();
  ReportGenerations(generation_);
  return absl::OkStatus();
}

void Attempt::AwaitEvent() {
  CompileQueue& queue = processes_->queue();
  queue.AwaitEvent(/*or_compiled=*/line_->HasRoom(), kStopInterval);
}

absl::Status Attempt::EndLine() {
  line_->DropWaiting();
  in_line_.resize(line_->size());
  while (line_->size() > 0) RETURN_IF_ERROR(Record(line_->Await()));
  line_.reset();
  return absl::OkStatus();
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
               " is used up: ", record::Counted(unrun.size(), "config"), " did not run"));
  }
  return unrun.empty() ? absl::OkStatus() : log_->FinishAll(std::move(unrun));
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
  if (options_.on_final) options_.on_final();
  const process::ReportedStep step(options_.processes.measure.on_step, "final");
  Notice(Cat("final: measuring ", record::Counted(compiled.size(), "config"), " in turn"));
  ReportRounds(0, began);
  ASSIGN_OR_RETURN(measure::FinalOutcome outcome,
                   processes_->MeasureInterleaved(
                       compiled, {.rounds = options_.final_rounds,
                                  .limit = options_.time_budget - absl::Seconds(log_->ActiveSeconds()),
                                  .on_rounds = [this, began](int rounds) { ReportRounds(rounds, began); }}));
  RETURN_IF_ERROR(log_->FinishAll(MakeFinalRows(generation_, compiled, outcome)));
  if (options_.on_generation) options_.on_generation(Summarise(log_->rows(), generation_, log_->ActiveSeconds()));
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
                       .failed_runs = log_->FailedRuns(),
                       .stopped = IsStopped(),
                       .resumed = resumed_,
                       .preparing = processes_->preparing()};
  for (size_t i = 0; i < log_->results().size(); ++i) {
    if (log_->rows()[log_->results()[i]].compile_time_s) result.results.push_back(TrialOf(i));
  }
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

void Attempt::ReportGenerations(int64_t end) {
  for (; reported_ < end; ++reported_) {
    const auto is_of_it = [this](const auto& submitted) { return submitted.second.generation == reported_; };
    if (std::any_of(submitted_.begin(), submitted_.end(), is_of_it)) return;
    if (options_.on_generation) options_.on_generation(Summarise(log_->rows(), reported_, log_->ActiveSeconds()));
  }
}

}  // namespace

absl::StatusOr<TuneResult> Tune(TuneSubject subject, TunerOptions options, TuneRecord record) {
  return Attempt(std::move(subject), std::move(options)).Run(std::move(record));
}

}  // namespace telemetry::worker::tune
