#include "worker/replay/replay.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/replay/stored_space.h"

namespace telemetry::worker::replay {
namespace {

constexpr double kNearOptimum = 1.02;

// Calls `work` for all numbers below `count` in some threads; returns when all calls have returned.
void InParallel(size_t count, size_t threads, const std::function<void(size_t)>& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

SeedOutcome OutcomeOf(uint64_t seed, const std::vector<ReplayedTrial>& trials, const ScoreScale& scale) {
  SeedOutcome outcome = {.seed = seed, .configs = trials.size(), .gains = {}, .gain_configs = {}};
  if (!trials.empty()) outcome.seconds = trials.back().end_s;
  for (size_t i = 0; i < trials.size(); ++i) {
    const std::optional<double>& perf_ms = trials[i].perf_ms;
    if (!perf_ms || (outcome.best_ms && *perf_ms >= *outcome.best_ms)) continue;
    outcome.best_ms = perf_ms;
    outcome.gains.push_back(trials[i]);
    outcome.gain_configs.push_back(i + 1);
    if (!outcome.configs_to_2 && *perf_ms <= kNearOptimum * scale.optimum_ms()) outcome.configs_to_2 = i + 1;
  }
  outcome.score = scale.Score(scale.MeanCurve({trials}));
  return outcome;
}

// Returns the standard error of the mean score.
double ErrorOf(const std::vector<SeedOutcome>& seeds) {
  if (seeds.size() < 2) return 0;
  const auto count = static_cast<double>(seeds.size());
  double mean = 0;
  for (const SeedOutcome& seed : seeds) mean += seed.score / count;
  double squares = 0;
  for (const SeedOutcome& seed : seeds) squares += (seed.score - mean) * (seed.score - mean);
  return std::sqrt(squares / (count - 1) / count);
}

absl::StatusOr<AlgorithmOutcome> Replay(const RunOutcome& run, const StoredSpace& space, const std::string& algorithm,
                                        const std::vector<codegen::Config>& suggested,
                                        const std::vector<tune::search::RelatedRun>& related,
                                        const ReplayOptions& options) {
  SearchChoice choice = {.algorithm = algorithm,
                         .effort = options.effort,
                         .max_configs = options.max_configs,
                         .starting_points = {},
                         .related = {},
                         .predict = {}};
  std::string_view plain = algorithm;
  if (record::TakeSuffix(kWithRelated, &plain)) {
    choice.algorithm = plain;
    choice.related = related;
  }
  if (record::TakeSuffix(kWithSuggestions, &plain)) {
    choice.algorithm = plain;
    choice.starting_points = suggested;
    if (options.predict) choice.predict = options.predict(run.run);
  }
  std::vector<std::vector<ReplayedTrial>> searches(options.seeds);
  std::vector<absl::Status> statuses(options.seeds);
  InParallel(options.seeds, options.threads, [&](size_t i) {
    absl::StatusOr<std::vector<ReplayedTrial>> trials = ReplaySearch(run.run, space, choice, options.first_seed + i);
    statuses[i] = trials.status();
    if (trials.ok()) searches[i] = *std::move(trials);
  });
  for (const absl::Status& status : statuses) RETURN_IF_ERROR(status);
  AlgorithmOutcome outcome = {.algorithm = algorithm, .curve_ms = {}, .performance = {}, .seeds = {}};
  for (size_t i = 0; i < searches.size(); ++i) {
    outcome.seeds.push_back(OutcomeOf(options.first_seed + i, searches[i], run.scale));
  }
  outcome.curve_ms = run.scale.MeanCurve(searches);
  outcome.performance = run.scale.Performance(outcome.curve_ms);
  outcome.score = run.scale.Score(outcome.curve_ms);
  outcome.score_error = ErrorOf(outcome.seeds);
  return outcome;
}

// Returns true if the algorithm, with or without a suffix, uses the results of related runs.
bool UsesRelated(std::string_view algorithm) {
  algorithm = algorithm.substr(0, algorithm.find('+'));
  return algorithm.empty() || algorithm == "surrogate";
}

// Adds each algorithm that `is_wanted` a second time, under its name and the suffix.
void AddVariants(std::string_view suffix, bool (*is_wanted)(std::string_view), std::vector<std::string>* algorithms) {
  const std::vector<std::string> plain = *algorithms;
  for (const std::string& algorithm : plain) {
    if (is_wanted(algorithm)) algorithms->push_back(record::Cat(algorithm, suffix));
  }
}

// Returns the value in the middle of the list, the smaller one of two.
template <typename T>
T MiddleOf(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

absl::StatusOr<ReplayReport> ReplayRuns(std::vector<StoredRun> runs, ReplayOptions options) {
  ReplayReport report = {.dataset = "", .options = std::move(options), .runs = {}, .skipped = {}};
  if (report.options.suggest) {
    AddVariants(
        kWithSuggestions, [](std::string_view) { return true; }, &report.options.algorithms);
  }
  if (report.options.related) AddVariants(kWithRelated, &UsesRelated, &report.options.algorithms);
  for (StoredRun& run : runs) {
    std::string name = NameOf(run);
    absl::StatusOr<ScoreScale> scale = ScoreScale::Create(run, report.options.least_configs);
    if (!scale.ok()) {
      report.skipped.push_back({.name = std::move(name), .reason = std::string(scale.status().message())});
      continue;
    }
    ASSIGN_OR_RETURN(const StoredSpace space, StoredSpace::Create(run));
    RunOutcome outcome = {
        .run = std::move(run), .scale = *std::move(scale), .coverage = space.coverage(), .algorithms = {}};
    std::vector<codegen::Config> suggested;
    if (report.options.suggest) suggested = report.options.suggest(outcome.run, space.space());
    std::vector<tune::search::RelatedRun> related;
    if (report.options.related) related = report.options.related(outcome.run);
    for (const std::string& algorithm : report.options.algorithms) {
      ASSIGN_OR_RETURN(AlgorithmOutcome replayed,
                       Replay(outcome, space, algorithm, suggested, related, report.options));
      outcome.algorithms.push_back(std::move(replayed));
    }
    report.runs.push_back(std::move(outcome));
  }
  return report;
}

std::vector<OverallOutcome> OverallOf(const ReplayReport& report) {
  std::vector<OverallOutcome> overall;
  if (report.runs.empty()) return overall;
  const auto runs = static_cast<double>(report.runs.size());
  for (size_t i = 0; i < report.options.algorithms.size(); ++i) {
    OverallOutcome mean = {.algorithm = report.options.algorithms[i]};
    double squares = 0;
    for (const RunOutcome& run : report.runs) {
      mean.score += run.algorithms[i].score / runs;
      squares += run.algorithms[i].score_error * run.algorithms[i].score_error;
    }
    mean.score_error = std::sqrt(squares) / runs;
    overall.push_back(std::move(mean));
  }
  return overall;
}

std::optional<size_t> MedianConfigsTo2(const AlgorithmOutcome& outcome) {
  constexpr size_t kNever = std::numeric_limits<size_t>::max();
  std::vector<size_t> configs;
  for (const SeedOutcome& seed : outcome.seeds) configs.push_back(seed.configs_to_2.value_or(kNever));
  const size_t median = MiddleOf(std::move(configs));
  return median == kNever ? std::nullopt : std::optional(median);
}

std::optional<double> MedianOfBest(const AlgorithmOutcome& outcome, double optimum_ms) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  std::vector<double> ratios;
  for (const SeedOutcome& seed : outcome.seeds) ratios.push_back(seed.best_ms.value_or(kNothing) / optimum_ms);
  const double median = MiddleOf(std::move(ratios));
  return median == kNothing ? std::nullopt : std::optional(median);
}

}  // namespace telemetry::worker::replay
