#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "worker/replay/replay.h"

namespace telemetry::worker::replay {
namespace {

std::string ShownName(const std::string& algorithm) {
  return algorithm.empty() || algorithm.starts_with('+') ? "default" + algorithm : algorithm;
}

std::string RunLines(const RunOutcome& run) {
  size_t failed = 0;
  for (const StoredConfig& config : run.run.configs) failed += config.perf_ms ? 0 : 1;
  std::string text = absl::StrFormat(
      "\n%s\n  %d configs, %d of them failed; %.0f%% of the combinations of their values\n"
      "  optimum %.6g ms, median %.6g ms; budget %.4g s, in which random search is expected to reach %.6g ms\n",
      NameOf(run.run), run.run.configs.size(), failed, 100 * run.coverage, run.scale.optimum_ms(),
      run.scale.median_ms(), run.scale.budget_s(), run.scale.baseline_ms().back());
  if (run.run.left_out > 0) {
    text += absl::StrFormat("  left out: %d configs that did not run or whose text is not known\n", run.run.left_out);
  }
  if (run.run.assumed_costs > 0) {
    text += absl::StrFormat("  %d configs without compile and measuring times have the median cost\n",
                            run.run.assumed_costs);
  }
  text +=
      absl::StrFormat("  %-24s %14s %12s %14s %9s\n", "algorithm", "score", "at the end", "to within 2%", "reached");
  for (const AlgorithmOutcome& outcome : run.algorithms) {
    const std::optional<size_t> configs = MedianConfigsTo2(outcome);
    const std::optional<double> best = MedianOfBest(outcome, run.scale.optimum_ms());
    size_t reached = 0;
    for (const SeedOutcome& seed : outcome.seeds) reached += seed.configs_to_2 ? 1 : 0;
    text += absl::StrFormat("  %-24s %14s %12s %14s %9s\n", ShownName(outcome.algorithm),
                            absl::StrFormat("%.3f ± %.3f", outcome.score, outcome.score_error),
                            best ? absl::StrFormat("%+.1f%%", 100 * (*best - 1)) : "-",
                            configs ? absl::StrFormat("%d configs", *configs) : "-",
                            absl::StrFormat("%d of %d", reached, outcome.seeds.size()));
  }
  return text;
}

}  // namespace

std::string ToText(const ReplayReport& report) {
  std::string text = absl::StrFormat(
      "dataset: %s; effort %s, %d seeds from %d\n"
      "Searches are limited to the configs of the dataset. The clock adds up the stored compile and "
      "measuring times.\n",
      report.dataset, report.options.effort, report.options.seeds, report.options.first_seed);
  for (const RunOutcome& run : report.runs) text += RunLines(run);
  if (!report.skipped.empty()) text += "\n";
  for (const SkippedRun& skipped : report.skipped) {
    text += absl::StrFormat("skipped: %s: %s\n", skipped.name, skipped.reason);
  }
  const std::vector<OverallOutcome> overall = OverallOf(report);
  if (!overall.empty()) {
    text += absl::StrFormat("\nmean score of %d %s\n", report.runs.size(), report.runs.size() == 1 ? "run" : "runs");
  }
  for (const OverallOutcome& outcome : overall) {
    text += absl::StrFormat("  %-24s %.3f ± %.3f\n", ShownName(outcome.algorithm), outcome.score, outcome.score_error);
  }
  return text;
}

}  // namespace telemetry::worker::replay
