#include "worker/compare/quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "proto/statistics/samples.h"

namespace telemetry::worker::compare {
namespace {

using Attempts = std::vector<AttemptTimes>;

constexpr double kClockDifference = 0.02;   // between the sides
constexpr double kAttemptClockDrop = 0.03;  // below the other attempts
// Kernels differ in the spread of their samples: on a quiet H200, between 3% and 7% at the median of the finals of
// seven kernels, and never more than three times as much in 956 of them.
constexpr double kNoisySpread = 3;    // times the usual one
constexpr double kLeastNoise = 0.01;  // a smaller spread is no noise
constexpr size_t kLeastSpreads = 5;   // attempts that make a spread the usual one
constexpr double kSlowHost = 0.02;
constexpr size_t kLeastHostRuns = 3;

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return statistics::Quantile(values, 0.5);
}

std::vector<double> ClocksOf(const Attempts& attempts, TimeKind kind) {
  std::vector<double> clocks;
  for (const AttemptTimes& attempt : attempts) {
    const std::optional<MeasuredTime>& time = attempt.Of(kind);
    if (time.has_value() && time->sm_clock_mhz.value_or(0) > 0) clocks.push_back(*time->sm_clock_mhz);
  }
  return clocks;
}

void RemarkOnSides(const RunSides& run, std::vector<std::string>* remarks) {
  const std::optional<double> base = ClockOf(run.base, TimeKind::kBest);
  const std::optional<double> head = ClockOf(run.head, TimeKind::kBest);
  if (!base.has_value() || !head.has_value()) return;
  if (std::abs(*head / *base - 1) < kClockDifference) return;
  remarks->push_back(absl::StrFormat("base ran at %.0f MHz, head at %.0f MHz", *base, *head));
}

// The usual values of the attempts of a run.
struct Usual {
  double mhz = 0;  // 0: no attempt knows its clock
  std::optional<double> spread;
};

// A property of some attempts of a side.
using Property = bool (*)(const MeasuredTime& time, const Usual& usual);

void RemarkOnAttempts(const Attempts& attempts, const char* side, const Usual& usual, Property has, const char* text,
                      std::vector<std::string>* remarks) {
  const auto count = std::count_if(attempts.begin(), attempts.end(), [&](const AttemptTimes& attempt) {
    const std::optional<MeasuredTime>& time = attempt.Of(TimeKind::kBest);
    return time.has_value() && has(*time, usual);
  });
  if (count > 0) remarks->push_back(absl::StrFormat("%d of %d attempts of %s: %s", count, attempts.size(), side, text));
}

bool HasLowClock(const MeasuredTime& time, const Usual& usual) {
  return time.sm_clock_mhz.has_value() && *time.sm_clock_mhz < usual.mhz * (1 - kAttemptClockDrop);
}
bool HasThrottledSamples(const MeasuredTime& time, const Usual& /*usual*/) { return time.throttled_samples > 0; }
bool HasNoisySamples(const MeasuredTime& time, const Usual& usual) {
  if (!usual.spread.has_value()) return false;
  return time.spread.value_or(0) > std::max(kLeastNoise, kNoisySpread * *usual.spread);
}

// Adds the difference of each host's attempts to those of the other hosts, in logarithms.
void AddHostDifferences(const Attempts& attempts, std::map<std::string, std::vector<double>>* differences) {
  std::map<std::string, std::vector<double>> logs;
  for (const AttemptTimes& attempt : attempts) {
    const std::optional<MeasuredTime>& time = attempt.Of(TimeKind::kDefault);
    if (time.has_value() && !attempt.host.empty()) logs[attempt.host].push_back(time->median.log);
  }
  if (logs.size() < 2) return;
  for (const auto& [host, own] : logs) {
    std::vector<double> others;
    for (const auto& [other, values] : logs) {
      if (other != host) others.insert(others.end(), values.begin(), values.end());
    }
    (*differences)[host].push_back(MedianOf(own).value_or(0) - MedianOf(others).value_or(0));
  }
}

}  // namespace

std::optional<double> ClockOf(const Attempts& attempts, TimeKind kind) { return MedianOf(ClocksOf(attempts, kind)); }

UsualSpreads::UsualSpreads(const std::vector<RunSides>& runs) {
  std::map<Place, std::vector<double>> spreads;
  for (const RunSides& run : runs) {
    for (const Attempts* const side : {&run.base, &run.head}) {
      for (const AttemptTimes& attempt : *side) {
        const std::optional<MeasuredTime>& time = attempt.Of(TimeKind::kBest);
        if (time.has_value() && time->spread.has_value()) spreads[PlaceOf(run.key)].push_back(*time->spread);
      }
    }
  }
  for (auto& [place, values] : spreads) {
    if (values.size() >= kLeastSpreads) usual_[place] = MedianOf(std::move(values)).value_or(0);
  }
}

std::optional<double> UsualSpreads::Of(const RunKey& key) const {
  const auto found = usual_.find(PlaceOf(key));
  return found == usual_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> RemarksOn(const RunSides& run, const UsualSpreads& spreads) {
  std::vector<std::string> remarks;
  RemarkOnSides(run, &remarks);
  Attempts all = run.base;
  all.insert(all.end(), run.head.begin(), run.head.end());
  const Usual usual = {.mhz = ClockOf(all, TimeKind::kBest).value_or(0), .spread = spreads.Of(run.key)};
  for (const auto& [attempts, side] : {std::pair(&run.base, "base"), std::pair(&run.head, "head")}) {
    RemarkOnAttempts(*attempts, side, usual, &HasLowClock, "a low clock", &remarks);
    RemarkOnAttempts(*attempts, side, usual, &HasThrottledSamples, "samples discarded because of a low clock",
                     &remarks);
    RemarkOnAttempts(*attempts, side, usual, &HasNoisySamples, "noisy samples", &remarks);
  }
  return remarks;
}

std::vector<std::string> RemarksOnHosts(const std::vector<RunSides>& runs) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> differences;  // by device and host
  for (const RunSides& run : runs) {
    for (const Attempts* const side : {&run.base, &run.head}) {
      std::map<std::string, std::vector<double>> of_run;
      AddHostDifferences(*side, &of_run);
      for (const auto& [host, values] : of_run) {
        std::vector<double>& all = differences[{run.key.hardware, host}];
        all.insert(all.end(), values.begin(), values.end());
      }
    }
  }
  std::vector<std::string> remarks;
  for (const auto& [place, values] : differences) {
    const double difference = std::expm1(MedianOf(values).value_or(0));
    if (values.size() < kLeastHostRuns || difference < kSlowHost) continue;
    remarks.push_back(absl::StrFormat("%s%s%s is %.1f%% slower than its peers in %d comparisons", place.second,
                                      place.first.empty() ? "" : ", ", place.first, 100 * difference, values.size()));
  }
  return remarks;
}

}  // namespace telemetry::worker::compare
