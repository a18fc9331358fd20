#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/compare/comparison.h"

namespace telemetry::worker::compare {

// A comparison for a reader.
struct Report {
  std::string base;  // the selectors
  std::string head;
  CompareOptions options;
  std::vector<RunComparison> runs;
  std::vector<std::string> remarks;  // on the machines
};

// Returns the number of runs with a verdict.
size_t CountOf(const Report& report, Verdict verdict);

// Returns a line with the number of runs of each verdict: "1 slower, 3 same of 4 runs".
std::string Summary(const Report& report);

// Returns kernel, shapes, dtypes and device of a run, separated by spaces.
std::string NameOf(const RunKey& key);

// Returns a time with its 95% interval, or "-" if it is not known: "0.1234 ms ±0.5%".
std::string Format(const std::optional<statistics::SideTime>& time);
// Returns a change with its 95% interval, or "-" if it is not known: "+3.1% (+2.4% to +3.8%)".
std::string Format(const std::optional<statistics::Change>& change);
// Returns the verdict of a time in a run: that of a new or gone run is the run's.
Verdict ShownVerdict(const RunComparison& run, const TimeComparison& time);
// Returns the verdict with the reason, if there is one: "unsure: 1 attempt of head; 3 are needed".
std::string FormatVerdict(const RunComparison& run, const TimeComparison& time);

// Return the forms of a report: a table for a terminal; Markdown for a pull request, of at most 60,000 bytes; JUnit's
// XML with a test case for each time of each run, of which the slower ones failed and the unsure, new and gone ones are
// skipped; a JSON object, which README.md describes.
std::string ToText(const Report& report);
std::string ToMarkdown(const Report& report);
std::string ToJUnit(const Report& report);
std::string ToJson(const Report& report);

}  // namespace telemetry::worker::compare
