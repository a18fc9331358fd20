#include "worker/compare/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "proto/statistics/holm.h"
#include "proto/statistics/noise.h"
#include "worker/compare/quality.h"

namespace telemetry::worker::compare {
namespace {

using statistics::LogMedian;
using statistics::Variance;
using Medians = std::vector<LogMedian>;

// The noise of runs on one device, for one kind of time.
using Priors = std::map<std::pair<std::string, TimeKind>, std::optional<Variance>>;

Medians MediansOf(const std::vector<AttemptTimes>& attempts, TimeKind kind) {
  Medians medians;
  for (const AttemptTimes& attempt : attempts) {
    if (attempt.Of(kind).has_value()) medians.push_back(attempt.Of(kind)->median);
  }
  return medians;
}

Priors FitPriors(const std::vector<RunSides>& runs) {
  std::map<std::pair<std::string, TimeKind>, std::vector<Variance>> groups;
  for (const RunSides& run : runs) {
    for (const TimeKind kind : kTimeKinds) {
      const std::optional<Variance> noise =
          statistics::AttemptNoise(MediansOf(run.base, kind), MediansOf(run.head, kind));
      if (noise.has_value()) groups[{run.key.hardware, kind}].push_back(*noise);
    }
  }
  Priors priors;
  for (const auto& [key, noises] : groups) priors[key] = statistics::FitPrior(noises);
  return priors;
}

TimeComparison CompareTimes(const Medians& base, const Medians& head, TimeKind kind,
                            const std::optional<Variance>& prior) {
  TimeComparison result = {.kind = kind, .base_attempts = base.size(), .head_attempts = head.size()};
  const std::optional<Variance> noise = statistics::Moderate(statistics::AttemptNoise(base, head), prior);
  if (!base.empty()) result.base = statistics::TimeOf(base, noise);
  if (!head.empty()) result.head = statistics::TimeOf(head, noise);
  result.change = statistics::CompareAttempts(base, head, prior);
  return result;
}

RunComparison CompareRun(const RunSides& run, const Priors& priors) {
  RunComparison result = {.key = run.key, .base_attempts = run.base.size(), .head_attempts = run.head.size()};
  for (const TimeKind kind : kTimeKinds) {
    const Medians base = MediansOf(run.base, kind);
    const Medians head = MediansOf(run.head, kind);
    if (base.empty() && head.empty()) continue;
    const auto prior = priors.find({run.key.hardware, kind});
    result.times.push_back(CompareTimes(base, head, kind, prior == priors.end() ? std::nullopt : prior->second));
  }
  return result;
}

bool IsTested(const TimeComparison& time, const CompareOptions& options) {
  return time.change.has_value() && std::min(time.base_attempts, time.head_attempts) >= options.least_attempts;
}

// Adjusts the p-values of all tests. Returns the number of tests.
size_t Adjust(std::vector<RunComparison>& runs, const CompareOptions& options) {
  std::vector<TimeComparison*> tested;
  std::vector<double> p_values;
  for (RunComparison& run : runs) {
    for (TimeComparison& time : run.times) {
      if (!IsTested(time, options)) continue;
      tested.push_back(&time);
      p_values.push_back(time.change->p_value);
    }
  }
  const std::vector<double> adjusted = statistics::AdjustByHolm(p_values);
  for (size_t i = 0; i < tested.size(); ++i) tested[i]->adjusted_p = adjusted[i];
  return tested.size();
}

std::string WithoutTest(const TimeComparison& time, const CompareOptions& options) {
  if (time.base_attempts == 0) return "base has no such time";
  if (time.head_attempts == 0) return "head has no such time";
  const bool is_base = time.base_attempts < time.head_attempts;
  const size_t attempts = is_base ? time.base_attempts : time.head_attempts;
  return absl::StrFormat("%d attempt%s of %s; %d are needed", attempts, attempts == 1 ? "" : "s",
                         is_base ? "base" : "head", options.least_attempts);
}

std::string WithoutPower(const TimeComparison& time) {
  if (!std::isfinite(time.detectable)) return "the noise between attempts is not known";
  return absl::StrFormat("%d and %d attempts show only changes above %.1f%%", time.base_attempts, time.head_attempts,
                         100 * time.detectable);
}

void Judge(const CompareOptions& options, size_t tests, TimeComparison* time) {
  if (!IsTested(*time, options)) {
    time->reason = WithoutTest(*time, options);
    return;
  }
  time->detectable = time->change->Detectable(options.false_alarms / static_cast<double>(tests));
  const double change = std::log(time->change->ratio);
  if (time->adjusted_p <= options.false_alarms && std::abs(change) >= std::log1p(options.threshold)) {
    time->verdict = change > 0 ? Verdict::kSlower : Verdict::kFaster;
  } else if (time->detectable <= 2 * options.threshold) {
    time->verdict = Verdict::kSame;
  } else {
    time->reason = WithoutPower(*time);
  }
}

// Withdraws the verdict "slower" of a time that a lower clock of the head explains.
void ConsiderClocks(const RunSides& run, const CompareOptions& options, TimeComparison* time) {
  if (time->verdict != Verdict::kSlower) return;
  const std::optional<double> base = ClockOf(run.base, time->kind);
  const std::optional<double> head = ClockOf(run.head, time->kind);
  if (!base.has_value() || !head.has_value()) return;
  const double of_clocks = *base / *head;
  if (of_clocks < 1 + options.threshold || time->change->ratio > of_clocks * (1 + options.threshold)) return;
  time->verdict = Verdict::kUnsure;
  time->reason = absl::StrFormat("the clock was %.0f MHz in base, %.0f MHz in head", *base, *head);
}

Verdict VerdictOf(const RunComparison& run) {
  if (run.base_attempts == 0) return Verdict::kNew;
  if (run.head_attempts == 0) return Verdict::kGone;
  for (const Verdict verdict : {Verdict::kSlower, Verdict::kFaster, Verdict::kUnsure, Verdict::kSame}) {
    for (const TimeComparison& time : run.times) {
      if (time.verdict == verdict) return verdict;
    }
  }
  return Verdict::kUnsure;
}

}  // namespace

std::string_view NameOf(TimeKind kind) {
  constexpr std::array<std::string_view, kTimeKinds.size()> kNames = {"best", "default", "chosen"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view NameOf(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts.size()> kNames = {"slower", "faster", "unsure",
                                                                     "same",   "new",    "gone"};
  return kNames[static_cast<size_t>(verdict)];
}

std::vector<RunComparison> CompareRuns(const std::vector<RunSides>& runs, const CompareOptions& options) {
  const Priors priors = FitPriors(runs);
  const UsualSpreads spreads(runs);
  std::vector<RunComparison> results;
  results.reserve(runs.size());
  for (const RunSides& run : runs) results.push_back(CompareRun(run, priors));
  const size_t tests = Adjust(results, options);
  for (size_t i = 0; i < runs.size(); ++i) {
    for (TimeComparison& time : results[i].times) {
      Judge(options, tests, &time);
      ConsiderClocks(runs[i], options, &time);
    }
    results[i].verdict = VerdictOf(results[i]);
    results[i].remarks = RemarksOn(runs[i], spreads);
  }
  return results;
}

}  // namespace telemetry::worker::compare
