#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "worker/replay/replay.h"

namespace telemetry::worker::replay {
namespace {

using record::Json;

constexpr size_t kEachPoint = 9;  // of 1000 samples, 112 are written, the first and the last among them

Json NumberOf(double value) { return std::isfinite(value) ? Json::Number(record::FloatRepr(value)) : Json::Null(); }
Json NumberOf(const std::optional<double>& value) { return value ? NumberOf(*value) : Json::Null(); }
Json CountOf(size_t count) { return Json::Integer(static_cast<int64_t>(count)); }
Json CountOf(const std::optional<size_t>& count) { return count ? CountOf(*count) : Json::Null(); }

Json ObjectOf(std::vector<std::pair<std::string, Json>> members) {
  Json object = Json::Object();
  object.members = std::move(members);
  return object;
}

// Returns a curve with every kEachPoint-th of its points.
Json CurveOf(const std::vector<double>& values) {
  Json points = Json::Array();
  for (size_t i = 0; i < values.size(); i += kEachPoint) points.items.push_back(NumberOf(values[i]));
  return points;
}

Json ToJson(const SeedOutcome& seed) {
  Json gains = Json::Array();
  for (size_t i = 0; i < seed.gains.size(); ++i) {
    Json gain = Json::Array();
    gain.items = {CountOf(seed.gain_configs[i]), NumberOf(seed.gains[i].end_s), NumberOf(seed.gains[i].perf_ms)};
    gains.items.push_back(std::move(gain));
  }
  return ObjectOf({{"seed", CountOf(seed.seed)},
                   {"score", NumberOf(seed.score)},
                   {"configs", CountOf(seed.configs)},
                   {"seconds", NumberOf(seed.seconds)},
                   {"best_ms", NumberOf(seed.best_ms)},
                   {"configs_to_2_percent", CountOf(seed.configs_to_2)},
                   {"gains", std::move(gains)}});
}

Json ToJson(const AlgorithmOutcome& outcome, double optimum_ms) {
  Json seeds = Json::Array();
  for (const SeedOutcome& seed : outcome.seeds) seeds.items.push_back(ToJson(seed));
  return ObjectOf({{"algorithm", Json::String(outcome.algorithm)},
                   {"score", NumberOf(outcome.score)},
                   {"score_error", NumberOf(outcome.score_error)},
                   {"median_best_ratio", NumberOf(MedianOfBest(outcome, optimum_ms))},
                   {"median_configs_to_2_percent", CountOf(MedianConfigsTo2(outcome))},
                   {"best_ms", CurveOf(outcome.curve_ms)},
                   {"performance", CurveOf(outcome.performance)},
                   {"seeds", std::move(seeds)}});
}

Json ToJson(const RunOutcome& outcome) {
  const StoredRun& run = outcome.run;
  size_t failed = 0;
  for (const StoredConfig& config : run.configs) failed += config.perf_ms ? 0 : 1;
  Json algorithms = Json::Array();
  for (const AlgorithmOutcome& algorithm : outcome.algorithms) {
    algorithms.items.push_back(ToJson(algorithm, outcome.scale.optimum_ms()));
  }
  return ObjectOf({{"run_id", Json::String(run.run_id)},
                   {"kernel_name", Json::String(run.kernel_name)},
                   {"input_shapes", Json::String(run.input_shapes)},
                   {"dtypes", Json::String(run.dtypes)},
                   {"hardware", Json::String(run.hardware)},
                   {"configs", CountOf(run.configs.size())},
                   {"failed", CountOf(failed)},
                   {"left_out", CountOf(run.left_out)},
                   {"assumed_costs", CountOf(run.assumed_costs)},
                   {"coverage", NumberOf(outcome.coverage)},
                   {"optimum_ms", NumberOf(outcome.scale.optimum_ms())},
                   {"median_ms", NumberOf(outcome.scale.median_ms())},
                   {"budget_s", NumberOf(outcome.scale.budget_s())},
                   {"times_s", CurveOf(outcome.scale.sample_times_s())},
                   {"baseline_ms", CurveOf(outcome.scale.baseline_ms())},
                   {"algorithms", std::move(algorithms)}});
}

}  // namespace

std::string ToJson(const ReplayReport& report) {
  Json runs = Json::Array();
  for (const RunOutcome& run : report.runs) runs.items.push_back(ToJson(run));
  Json skipped = Json::Array();
  for (const SkippedRun& run : report.skipped) {
    skipped.items.push_back(ObjectOf({{"run", Json::String(run.name)}, {"reason", Json::String(run.reason)}}));
  }
  Json overall = Json::Array();
  for (const OverallOutcome& outcome : OverallOf(report)) {
    overall.items.push_back(ObjectOf({{"algorithm", Json::String(outcome.algorithm)},
                                      {"score", NumberOf(outcome.score)},
                                      {"score_error", NumberOf(outcome.score_error)}}));
  }
  return record::ToJson(ObjectOf({{"version", CountOf(size_t{1})},
                                  {"dataset", Json::String(report.dataset)},
                                  {"effort", Json::String(report.options.effort)},
                                  {"overall", std::move(overall)},
                                  {"runs", std::move(runs)},
                                  {"skipped", std::move(skipped)}})) +
         "\n";
}

}  // namespace telemetry::worker::replay
