#include "worker/compare/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"

namespace telemetry::worker::compare {
namespace {

using record::Cat;

std::string Percent(double ratio) { return absl::StrFormat("%+.1f%%", 100 * (ratio - 1)); }

}  // namespace

size_t CountOf(const Report& report, Verdict verdict) {
  return static_cast<size_t>(std::count_if(report.runs.begin(), report.runs.end(),
                                           [&](const RunComparison& run) { return run.verdict == verdict; }));
}

std::string Summary(const Report& report) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    if (const size_t count = CountOf(report, verdict); count > 0) parts.push_back(Cat(count, " ", NameOf(verdict)));
  }
  return Cat(absl::StrJoin(parts, ", "), " of ", report.runs.size(), report.runs.size() == 1 ? " run" : " runs");
}

std::string NameOf(const RunKey& key) {
  std::vector<std::string> parts;
  for (const std::string& part : {key.kernel_name, key.input_shapes, key.dtypes, key.hardware}) {
    if (!part.empty()) parts.push_back(part);
  }
  return absl::StrJoin(parts, " ");
}

std::string Format(const std::optional<statistics::SideTime>& time) {
  if (!time.has_value()) return "-";
  std::string text = absl::StrFormat("%.4g ms", time->time);
  if (!time->high.has_value()) return text;
  return absl::StrFormat("%s ±%.1f%%", text, 100 * (*time->high / time->time - 1));
}

std::string Format(const std::optional<statistics::Change>& change) {
  if (!change.has_value()) return "-";
  std::string text = Percent(change->ratio);
  if (!change->low.has_value() || !change->high.has_value()) return text;
  return Cat(text, " (", Percent(*change->low), " to ", Percent(*change->high), ")");
}

Verdict ShownVerdict(const RunComparison& run, const TimeComparison& time) {
  const bool is_one_sided = run.verdict == Verdict::kNew || run.verdict == Verdict::kGone;
  return is_one_sided ? run.verdict : time.verdict;
}

std::string FormatVerdict(const RunComparison& run, const TimeComparison& time) {
  const Verdict verdict = ShownVerdict(run, time);
  std::string name(NameOf(verdict));
  return verdict == Verdict::kUnsure && !time.reason.empty() ? Cat(name, ": ", time.reason) : name;
}

}  // namespace telemetry::worker::compare
