#include "worker/tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>

#include "absl/synchronization/mutex.h"
#include "proto/record/json.h"
#include "tests/worker/tune/tune_fixture.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

namespace status = recording::status;
using codegen::Config;
using recording::AttemptRow;
using runtime::BoundKernel;
using testing::Contains;
using testing::Key;

// Changes generated code so that it fails in some way.
using Spoil = std::function<void(codegen::GeneratedKernel*)>;

// Returns a generator that applies spoils[n] to the code of the n-th generated config.
Candidates::Generate Spoiled(std::shared_ptr<BoundKernel> kernel, std::vector<Spoil> spoils) {
  auto next = std::make_shared<size_t>(0);
  return [kernel = std::move(kernel), spoils = std::move(spoils),
          next](const Config& config) -> absl::StatusOr<codegen::GeneratedKernel> {
    absl::StatusOr<codegen::GeneratedKernel> generated = kernel->Generate(config);
    if (!generated.ok()) return generated;
    const size_t number = (*next)++;
    if (number < spoils.size() && spoils[number]) spoils[number](&*generated);
    return generated;
  };
}

// Inserts a statement at the beginning of the kernel.
Spoil Begin(const std::string& statement) {
  return [statement](codegen::GeneratedKernel* kernel) {
    const size_t name = kernel->source.rfind(kernel->function + "(");
    ASSERT_NE(name, std::string::npos);
    const size_t body = kernel->source.find('{', name);
    ASSERT_NE(body, std::string::npos);
    kernel->source.insert(body + 1, "\n  " + statement + "\n");
  };
}

// Returns the first row with this error class, or null.
const v1::Measurement* ResultWith(const std::vector<v1::Measurement>& rows, const std::string& error_class) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const v1::Measurement& row) { return row.failure().error_class() == error_class; });
  return found == rows.end() ? nullptr : &*found;
}

TEST(TunerTest, FindsAConfigAndSaysEverything) {
  TuneFixture fixture;
  const absl::StatusOr<TuneResult> result = fixture.Tune(fixture.Subject(), fixture.Options(4));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->ranking.best.has_value());
  EXPECT_TRUE(result->ranking.default_perf_ms.has_value());
  EXPECT_FALSE(result->stopped);

  const std::vector<v1::Record>& records = fixture.producer().records();
  EXPECT_TRUE(records[0].has_run());
  EXPECT_TRUE(records[1].has_ir_graph());  // the device IR's
  EXPECT_TRUE(records[2].has_ir_graph());  // the wrapper IR's
  EXPECT_EQ(records[3].attempt().state(), v1::Attempt::STATE_OPEN);
  const v1::Attempt last = fixture.Attempts().back();
  EXPECT_EQ(last.state(), v1::Attempt::STATE_COMPLETE);
  EXPECT_EQ(last.search_algorithm(), "RandomSearch");
  const absl::StatusOr<record::Json> counters = record::ParseJson(last.counters_json());
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ(counters->Find("configs_tested")->text, std::to_string(result->counters.configs_tested));
  EXPECT_GE(result->counters.configs_tested, 4);
}

TEST(TunerTest, EveryConfigThatIsStartedHasAResultNextAndTimesGrow) {
  TuneFixture fixture;
  ASSERT_TRUE(fixture.Tune(fixture.Subject(), fixture.Options(4)).ok());
  const std::vector<v1::Measurement> rows = fixture.Rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].seq(), i + 1);
    EXPECT_GE(rows[i].timestamp_s(), rows[i == 0 ? 0 : i - 1].timestamp_s());
    if (rows[i].status() != status::kStarted) continue;
    ASSERT_LT(i + 1, rows.size());
    EXPECT_EQ(rows[i].config_id(), rows[i + 1].config_id());
    EXPECT_NE(rows[i + 1].status(), status::kStarted);
  }
}

TEST(TunerTest, TheDefaultConfigIsMeasuredFirstHoweverLongItCompiles) {
  TuneFixture fixture;
  LibrarySubject subject = fixture.Subject();
  const std::shared_ptr<BoundKernel> kernel = subject.bound;
  const Config default_config = kernel->config_space().Default();
  TunerOptions options = fixture.Options(4);
  options.processes.compile.processes = 2;
  options.generate = [&](const Config& config) {
    absl::StatusOr<codegen::GeneratedKernel> generated = kernel->Generate(config);
    for (int i = 0; generated.ok() && config == default_config && i < 2000; ++i) {
      generated->source += absl::StrCat("float slow_", i, "(float x) { return exp(x) * ", i, " + sin(x); }\n");
    }
    return generated;
  };
  ASSERT_TRUE(fixture.Tune(std::move(subject), options).ok());
  const std::vector<v1::Measurement> rows = fixture.Rows();
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const v1::Measurement& row) { return row.status() == status::kStarted; });
  ASSERT_NE(first, rows.end());
  EXPECT_EQ(first->config_id(), default_config.id());
}

TEST(TunerTest, MeasurementsHaveTheirDetails) {
  TuneFixture fixture;
  ASSERT_TRUE(fixture.Tune(fixture.Subject(), fixture.Options(3)).ok());
  int finals = 0;
  for (const v1::Record& record : fixture.producer().records()) {
    if (!record.has_measurement_detail()) continue;
    const v1::MeasurementDetail& detail = record.measurement_detail();
    EXPECT_GT(detail.samples_ms_size(), 0);
    EXPECT_GT(detail.binary_bytes(), 0u);
    EXPECT_TRUE(detail.has_worst_absolute_error());
    if (detail.stage() == v1::MeasurementDetail::STAGE_FINAL) ++finals;
  }
  EXPECT_GE(finals, 2);
}

TEST(TunerTest, AnExactEffortIsThatOfEveryConfigAndItsStepsAreReported) {
  TuneFixture fixture;
  TunerOptions options = fixture.Options(4);
  options.processes.effort = {.min_samples = 3, .max_samples = 3, .exact = true, .warm = true};
  absl::Mutex mutex;
  std::map<std::string, std::vector<std::string>> steps;  // by config
  options.processes.measure.on_step = [&](std::string_view step, std::string_view config, SteadyTime begin,
                                          SteadyTime end) {
    absl::MutexLock lock(&mutex);
    steps[std::string(config)].emplace_back(step);
    EXPECT_LE(begin, end) << step;
  };
  ASSERT_TRUE(fixture.Tune(fixture.Subject(), options).ok());
  int measured = 0;
  for (const v1::Record& record : fixture.producer().records()) {
    const v1::MeasurementDetail& detail = record.measurement_detail();
    if (detail.stage() != v1::MeasurementDetail::STAGE_SEARCH) continue;
    ++measured;
    EXPECT_EQ(detail.samples_ms_size(), 3);
  }
  EXPECT_GE(measured, 2);
  EXPECT_THAT(steps[""], testing::IsSupersetOf({"image", "problem", "propose", "final"}));
  EXPECT_EQ(steps.size(), static_cast<size_t>(measured) + 1);
  for (auto& [config, of_config] : steps) {
    if (config.empty()) continue;
    // If it was compiled by then, its code was loaded while the config before ran.
    if (of_config.front() == "load ahead") of_config.erase(of_config.begin());
    EXPECT_THAT(of_config, testing::ElementsAre("compile", "wait", "load", "run", "check", "sample", "record"));
  }
}

// Checks that each kind of failure affects one config only and that the other configs are measured.
TEST(TunerTest, AllStatusesOccur) {
  TuneFixture fixture;
  LibrarySubject subject = fixture.Subject();
  LibrarySubject other = fixture.Subject("exp", {"x=16x64:f32"});
  TunerOptions options = fixture.Options(12);
  options.processes.run_limit = absl::Seconds(8);  // the duration of the hang; large, because a busy machine is slow
  const auto wrong = [&other](codegen::GeneratedKernel* kernel) {
    absl::StatusOr<codegen::GeneratedKernel> exp =
        other.subject.kernel->Generate(other.subject.kernel->config_space().Default());
    ASSERT_TRUE(exp.ok());
    *kernel = *exp;
  };
  const Spoil none;
  const std::vector<Spoil> spoils = {
      none,
      Begin("this does not compile"),
      [](codegen::GeneratedKernel* kernel) { kernel->shared_bytes = size_t{1} << 40; },
      Begin("*(volatile __global int*)8 = 1;"),
      Begin("for (volatile int i = 0; i >= 0;) {}"),
      wrong,
      Begin("return;"),
  };
  const std::shared_ptr<BoundKernel> kernel = subject.bound;
  const Candidates::Generate spoiled = Spoiled(kernel, spoils);
  int generated = 0;
  options.generate = [&](const Config& config) -> absl::StatusOr<codegen::GeneratedKernel> {
    const int number = generated++;
    if (number == 7) return absl::ResourceExhaustedError("needs more than there is");
    if (number == 8) return kernel->Generate(kernel->config_space().Default());
    return spoiled(config);
  };
  const absl::StatusOr<TuneResult> result = fixture.Tune(std::move(subject), options);
  ASSERT_TRUE(result.ok()) << result.status();

  const std::map<std::string, int> statuses = fixture.Statuses();
  for (const char* status : {"ok", "error", "timeout", "filtered", "deduplicated"}) {
    EXPECT_THAT(statuses, Contains(Key(status)));
  }
  const std::vector<v1::Measurement> rows = fixture.Rows();
  for (const char* error_class : {"CompileError", "OutOfResources", "Crash", "Hang", "WrongResult"}) {
    EXPECT_NE(ResultWith(rows, error_class), nullptr) << error_class;
  }
  EXPECT_EQ(result->counters.timeouts, 1);
  EXPECT_EQ(result->counters.worker_failures, 1);
  EXPECT_EQ(result->counters.accuracy_failures, 2);
  EXPECT_EQ(result->counters.deduplicated, 1);
  std::vector<uint64_t> failed_runs;
  for (const char* error_class : {"Crash", "Hang", "WrongResult"}) {
    for (const v1::Measurement& row : rows) {
      if (row.failure().error_class() == error_class) failed_runs.push_back(row.config_id());
    }
  }
  EXPECT_EQ(failed_runs.size(), 4u);
  EXPECT_THAT(result->failed_runs, testing::UnorderedElementsAreArray(failed_runs));
  EXPECT_TRUE(result->ranking.best.has_value());
  for (const v1::Measurement& row : rows) EXPECT_EQ(row.has_perf_ms(), row.status() == status::kOk) << row.status();
}

// Checks the failure message of a kernel that writes nothing: its outputs are filled with NaN before the launch.
TEST(TunerTest, WhereValuesAreLookedAtAWrongResultNamesTheFirstNaN) {
  TuneFixture fixture;
  LibrarySubject subject = fixture.Subject();
  TunerOptions options = fixture.Options(4);
  options.generate = Spoiled(subject.bound, {nullptr, Begin("return;")});
  std::string printed;
  options.processes.measure.debug = {.level = debug::DebugLevel::kPrint, .kernels = {"Softmax"}};
  options.processes.measure.on_debug = [&](std::string_view text) { printed += std::string(text) + "\n"; };
  ASSERT_TRUE(fixture.Tune(std::move(subject), options).ok());
  const std::vector<v1::Measurement> rows = fixture.Rows();
  const v1::Measurement* wrong = ResultWith(rows, "WrongResult");
  ASSERT_NE(wrong, nullptr);
  EXPECT_THAT(wrong->failure().message(),
              testing::EndsWith("; the first tensor with a NaN is 'out' (1024 of 1024 elements), made by kernel "
                                "'softmax'"));
  EXPECT_THAT(printed, testing::HasSubstr("[config] Config("));
  EXPECT_THAT(printed, testing::HasSubstr("[after_launch - softmax - out] elements=1024 sizes=[16, 64]"));
}

TEST(TunerTest, ACompilerThatDiesIsThePeersFailure) {
  TuneFixture fixture;
  TunerOptions options = fixture.Options(2);
  options.processes.compile.program.path = "/bin/false";
  const absl::StatusOr<TuneResult> result = fixture.Tune(fixture.Subject(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(fixture.Statuses(), Contains(Key("peer_compilation_fail")));
  EXPECT_FALSE(result->ranking.best.has_value());
}

TEST(TunerTest, WhatTheBudgetLeftOutHasARow) {
  TuneFixture fixture;
  TunerOptions options = fixture.Options(6);
  options.time_budget = absl::ZeroDuration();
  ASSERT_TRUE(fixture.Tune(fixture.Subject(), options).ok());
  const std::map<std::string, int> statuses = fixture.Statuses();
  EXPECT_THAT(statuses, Contains(testing::Pair("filtered", testing::Ge(6))));
  EXPECT_EQ(statuses.count("ok"), 0u);
  EXPECT_NE(ResultWith(fixture.Rows(), "OverBudget"), nullptr);
}

// Stops the attempt after each config and checks that it resumes each time.
TEST(TunerTest, GoesOnWhereItWasStopped) {
  TuneFixture fixture;
  std::atomic<bool> stop = false;
  TunerOptions options = fixture.Options(4);
  options.stop = &stop;
  options.on_progress = [&stop](const TuneProgress& progress) { stop = progress.done > 0; };
  absl::StatusOr<TuneResult> result = fixture.Tune(fixture.Subject(), options, /*journaled=*/true);
  int processes = 1;
  for (; result.ok() && result->stopped; ++processes) {
    ASSERT_LT(processes, 20);
    stop = false;
    result = fixture.Tune(fixture.Subject(), options, /*journaled=*/true);
    EXPECT_TRUE(!result.ok() || result->resumed);
  }
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(processes, 3);
  EXPECT_TRUE(result->ranking.best.has_value());
  std::set<std::pair<int64_t, uint64_t>> results;
  std::set<std::string> attempts;
  for (const v1::Measurement& row : fixture.Rows()) {
    attempts.insert(row.attempt_id());
    if (row.status() == status::kStarted) continue;
    EXPECT_TRUE(results.insert({row.generation(), row.config_id()}).second) << "twice: " << row.ShortDebugString();
  }
  EXPECT_EQ(attempts.size(), 1u);
}

// Stops a search twice, after proposals that used results, and checks that the journal has each proposal once.
TEST(TunerTest, AResumedSearchRepeatsItsProposals) {
  TuneFixture fixture;
  TunerOptions options = fixture.Options(36);
  options.search.algorithm = "surrogate";
  options.search.most_at_once = 2;
  options.processes.effort = {.min_samples = 3, .max_samples = 3, .budget = absl::Milliseconds(1)};
  std::atomic<bool> stop = false;
  options.stop = &stop;
  std::vector<int64_t> learnt;
  for (const size_t stopped_after : {32, 34}) {
    stop = false;
    options.on_progress = [&](const TuneProgress&) { stop = fixture.Rows().size() >= 2 * stopped_after; };
    const absl::StatusOr<TuneResult> result = fixture.Tune(fixture.Subject(), options, /*journaled=*/true);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->stopped);
    const std::vector<int64_t> before = std::move(learnt);
    learnt = Journal::Open(fixture.journal_path()).value()->TakeContents().learnt;
    EXPECT_EQ(std::count(learnt.begin(), learnt.end(), 0), 1);
    EXPECT_TRUE(std::is_sorted(learnt.begin(), learnt.end()));
    ASSERT_GE(learnt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), learnt.begin()));
  }
  EXPECT_GE(learnt.size(), 2u) << "the search proposed once only";
  std::set<uint64_t> configs;
  for (const v1::Measurement& row : fixture.Rows()) {
    if (row.status() == status::kStarted) {
      EXPECT_TRUE(configs.insert(row.config_id()).second) << "started twice";
    }
  }
}

TEST(TunerTest, AnAttemptThatIsEndedAgainIsEndedAlike) {
  TuneFixture fixture;
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<TuneResult> result = fixture.Tune(fixture.Subject(), fixture.Options(2), /*journaled=*/true);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->resumed, i == 1);
  }
  std::vector<std::string> counters;
  for (const v1::Record& record : fixture.producer().records()) {
    if (record.attempt().has_counters_json()) counters.push_back(record.attempt().counters_json());
  }
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0], counters[1]);
}

// Checks that a process that resumes an attempt whose budget is used up still runs a final, as the last generation.
TEST(TunerTest, TheFinalOfAResumedAttemptIsItsLastGeneration) {
  TuneFixture fixture;
  LibrarySubject subject = fixture.Subject();
  const Config config = subject.bound->config_space().Default();
  AttemptRow first = {.config = config, .status = status::kOk, .perf_ms = 1};
  first.detail.emplace().set_stage(v1::MeasurementDetail::STAGE_SEARCH);
  const AttemptRow second = {.generation = 1, .config = config, .status = status::kError};
  {
    const std::unique_ptr<Journal> journal = Journal::Open(fixture.journal_path()).value();
    ASSERT_TRUE(journal->Begin(subject.info.attempt_id, subject.info.started).ok());
    ASSERT_TRUE(journal->Append({first, second}, /*active_s=*/5).ok());
  }
  TunerOptions options = fixture.Options(1);
  options.time_budget = absl::Seconds(1);
  const absl::StatusOr<TuneResult> result = fixture.Tune(std::move(subject), options, /*journaled=*/true);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ranking.best.has_value());
  const std::vector<v1::Measurement> rows = fixture.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].generation(), 2);
}

// Resumes a journal of another version of the program, in which a config compiled that does not compile now.
TEST(TunerTest, AFinalistThatDoesNotCompileIsLeftOutOfTheFinal) {
  TuneFixture fixture;
  LibrarySubject subject = fixture.Subject();
  const std::shared_ptr<BoundKernel> kernel = subject.bound;
  const Config good = kernel->config_space().Default();
  const Config bad = *kernel->config_space().Normalize(*Config::Parse("Config(num_warps=8)"));
  const auto measured = [](const Config& config, double perf_ms) {
    AttemptRow row = {.config = config, .status = status::kOk, .perf_ms = perf_ms};
    row.detail.emplace().set_stage(v1::MeasurementDetail::STAGE_SEARCH);
    return row;
  };
  {
    const std::unique_ptr<Journal> journal = Journal::Open(fixture.journal_path()).value();
    ASSERT_TRUE(journal->Begin(subject.info.attempt_id, subject.info.started).ok());
    ASSERT_TRUE(journal->Append({measured(bad, 1), measured(good, 2)}, /*active_s=*/5).ok());
  }
  TunerOptions options = fixture.Options(1);
  options.time_budget = absl::Seconds(1);
  std::string notices;
  options.on_notice = [&notices](const std::string& text) { notices += text + "\n"; };
  options.generate = [&](const Config& config) {
    absl::StatusOr<codegen::GeneratedKernel> generated = kernel->Generate(config);
    if (generated.ok() && config == bad) generated->source += "#error of another version\n";
    return generated;
  };
  const absl::StatusOr<TuneResult> result = fixture.Tune(std::move(subject), options, /*journaled=*/true);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->ranking.best.has_value());
  EXPECT_EQ(result->ranking.best->config, good);
  EXPECT_THAT(notices, testing::HasSubstr("left out of the final: " + bad.ToString()));
}

// Returns the ids of all configs that were recorded.
std::set<uint64_t> Tried(const TuneFixture& fixture) {
  std::set<uint64_t> configs;
  for (const v1::Measurement& row : fixture.Rows()) configs.insert(row.config_id());
  return configs;
}

// Checks that a resumed attempt ignores new starting points.
TEST(TunerTest, GoesOnWithTheStartingPointsThatItBeganWith) {
  const Config known = *Config::Parse("Config(num_warps=8)");
  TuneFixture whole;
  TunerOptions options = whole.Options(4);
  options.search.starting_points = {known};
  ASSERT_TRUE(whole.Tune(whole.Subject(), options).ok());

  TuneFixture stopped;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.on_progress = [&stop](const TuneProgress& progress) { stop = progress.done > 0; };
  ASSERT_TRUE(stopped.Tune(stopped.Subject(), options, /*journaled=*/true)->stopped);
  options = stopped.Options(4);
  options.search.starting_points = {*Config::Parse("Config(num_warps=2)")};
  const absl::StatusOr<TuneResult> result = stopped.Tune(stopped.Subject(), options, /*journaled=*/true);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->resumed);
  EXPECT_EQ(Tried(stopped), Tried(whole));
}

TEST(TunerTest, NamesTheStartingPointsThatCannotBeUsed) {
  TuneFixture fixture;
  TunerOptions options = fixture.Options(1);
  options.search.starting_points = {*Config::Parse("Config(num_warps=3)")};
  std::string notices;
  options.on_notice = [&notices](const std::string& text) { notices += text + "\n"; };
  ASSERT_TRUE(fixture.Tune(fixture.Subject(), options).ok());
  EXPECT_THAT(notices, testing::HasSubstr("starting point Config(num_warps=3) is left out: "));
}

TEST(TunerTest, TheSameSeedTriesTheSameConfigs) {
  const auto tried = [] {
    TuneFixture fixture;
    EXPECT_TRUE(fixture.Tune(fixture.Subject(), fixture.Options(4)).ok());
    return Tried(fixture);
  };
  EXPECT_EQ(tried(), tried());
}

}  // namespace
}  // namespace telemetry::worker::tune
