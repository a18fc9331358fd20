#include "worker/tune/tune_progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {

std::string ProgressText(const TuneProgress& progress, int width) {
  const double part =
      progress.proposed == 0 ? 0 : static_cast<double>(progress.done) / static_cast<double>(progress.proposed);
  const int filled = static_cast<int>(part * width);
  std::string bar(static_cast<size_t>(width), ' ');
  std::fill_n(bar.begin(), filled, '=');
  if (filled < width) bar[static_cast<size_t>(filled)] = '>';
  const std::string stage = progress.is_final ? "final" : absl::StrCat("gen ", progress.generation);
  std::string text = absl::StrFormat("[%s] %s  %d/%d", bar, stage, progress.done, progress.proposed);
  if (progress.best_ms) absl::StrAppendFormat(&text, "  best %.4f ms", *progress.best_ms);
  if (progress.configs_per_s) absl::StrAppendFormat(&text, "  %.1f configs/s", *progress.configs_per_s);
  if (progress.left_s) absl::StrAppendFormat(&text, "  %.0f s left", *progress.left_s);
  return text;
}

GenerationSummary Summarise(absl::Span<const recording::AttemptRow> rows, int64_t generation, double elapsed_s) {
  GenerationSummary summary = {.generation = generation, .elapsed_s = elapsed_s};
  for (const recording::AttemptRow& row : rows) {
    if (row.generation != generation || row.status == recording::status::kStarted) continue;
    if (row.perf_ms) summary.times_ms.push_back(*row.perf_ms);
    if (recording::IsOfFinal(row)) summary.is_final = true;
    ++(row.status == recording::status::kOk        ? summary.ok
       : row.status == recording::status::kError   ? summary.error
       : row.status == recording::status::kTimeout ? summary.timeout
                                                   : summary.other);
  }
  return summary;
}

std::string SummaryText(const GenerationSummary& summary) {
  std::string text = summary.is_final ? absl::StrFormat("[%.0fs] Final: ok=%d", summary.elapsed_s, summary.ok)
                                      : absl::StrFormat("[%.0fs] Generation %d: ok=%d", summary.elapsed_s,
                                                        summary.generation, summary.ok);
  const auto add = [&text](const char* name, int64_t count) {
    if (count > 0) absl::StrAppend(&text, " ", name, "=", count);
  };
  add("error", summary.error);
  add("timeout", summary.timeout);
  add("other", summary.other);
  if (summary.times_ms.empty()) return text;
  std::vector<double> times = summary.times_ms;
  std::sort(times.begin(), times.end());
  absl::StrAppendFormat(&text, " min=%.4f mid=%.4f max=%.4f", times.front(), times[times.size() / 2], times.back());
  return text;
}

}  // namespace telemetry::worker::tune
