#include "worker/tune/earlier_search.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {

EarlierSearch::EarlierSearch(const compile::CodeFolder* folder, const std::string& options,
                             const device::DeviceProperties& device)
    : folder_(*folder),
      // Another version of the program or of the compiler has other code.
      name_(record::Cat("results of ", options, "\n", TELEMETRY_VERSION, "\n", device.runtime_version)) {}

// Each line is a time in ms, or 0 after a failure, and the config.
std::vector<search::Trial> EarlierSearch::Find() const {
  std::vector<search::Trial> results;
  const std::string text = folder_.FindText(name_).value_or("");
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    absl::StatusOr<codegen::Config> config = codegen::Config::Parse(std::string(parts.second));
    double perf_ms = 0;
    if (!config.ok() || !absl::SimpleAtod(parts.first, &perf_ms)) continue;
    results.push_back({.config = *std::move(config), .perf_ms = perf_ms > 0 ? std::optional(perf_ms) : std::nullopt});
  }
  return results;
}

void EarlierSearch::Put(const std::vector<search::Trial>& results) const {
  std::string text;
  for (const search::Trial& trial : results) {
    absl::StrAppend(&text, trial.perf_ms.value_or(0), " ", trial.config.ToString(), "\n");
  }
  if (!text.empty()) folder_.StoreText(name_, text);
}

}  // namespace telemetry::worker::tune
