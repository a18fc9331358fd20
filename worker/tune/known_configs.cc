#include "worker/tune/known_configs.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::tune {
namespace {

using codegen::Config;
using record::Cat;

// Limit of configs for other shapes from each source. More would displace the search's own proposals.
constexpr size_t kMostOfOthers = 5;
// Limit of the runs that a query to the collector returns.
constexpr size_t kMostRuns = 100;

void Notice(const KnownSources& sources, const std::string& text) {
  if (sources.on_notice) sources.on_notice(text);
}

absl::StatusOr<BestConfig> BestOfSummary(const v1::RunSummary& summary) {
  if (!summary.has_best_config() || !summary.has_best_perf_ms()) return absl::NotFoundError("no config of it ran");
  ASSIGN_OR_RETURN(Config config, Config::Parse(summary.best_config()));
  BestConfig best = MakeBestConfig(summary.run(), std::move(config), summary.best_perf_ms(), /*attempt_id=*/"");
  best.is_final = summary.best_is_final();
  return best;
}

absl::StatusOr<BestConfig> AskForRun(const v1::Run& run, client::DatasetClient& collector) {
  ASSIGN_OR_RETURN(v1::RunSummary summary, collector.GetRun(run.run_id()));
  return BestOfSummary(summary);
}

// Queries the collector for the best configs for other shapes. Returns those with the same dtypes first, and among them
// those with the nearest shapes.
absl::StatusOr<std::vector<BestConfig>> AskForOthers(const v1::Run& run, client::DatasetClient& collector) {
  v1::Filter filter;
  filter.set_kernel_name(run.kernel_name());
  filter.set_hardware(run.hardware());
  ASSIGN_OR_RETURN(std::vector<v1::RunSummary> summaries, collector.ListRuns(filter, kMostRuns));
  std::vector<BestConfig> others;
  for (const v1::RunSummary& summary : summaries) {
    absl::StatusOr<BestConfig> best = BestOfSummary(summary);
    if (best.ok() && best->run_id != run.run_id()) others.push_back(*std::move(best));
  }
  const auto distance = [&run](const BestConfig& best) {
    return std::pair(best.dtypes != run.dtypes(), search::ShapeDistance(run.input_shapes(), best.input_shapes));
  };
  std::stable_sort(others.begin(), others.end(),
                   [&distance](const BestConfig& a, const BestConfig& b) { return distance(a) < distance(b); });
  if (others.size() > kMostOfOthers) others.resize(kMostOfOthers);
  return others;
}

// A list of distinct configs in the order in which they were added.
class UniqueConfigs {
 public:
  void Add(Config config) {
    if (ids_.insert(config.id()).second) configs_.push_back(std::move(config));
  }
  std::vector<Config> Take() { return std::move(configs_); }

 private:
  absl::flat_hash_set<uint64_t> ids_;
  std::vector<Config> configs_;
};

// Adds the entry of this run in the collector's cache. Returns an error if no other query can be expected to succeed.
absl::Status AddFromSharedCache(const v1::Run& run, const KnownSources& sources, std::vector<BestConfig>* bests) {
  if (sources.shared == nullptr || sources.shared->is_absent()) return absl::OkStatus();
  absl::StatusOr<BestConfig> shared = sources.shared->Find(run);
  if (shared.ok()) bests->push_back(*shared);
  if (absl::IsFailedPrecondition(shared.status())) Notice(sources, std::string(shared.status().message()));
  // An older collector has no cache.
  const bool goes_on = shared.ok() || absl::IsNotFound(shared.status()) || absl::IsUnimplemented(shared.status()) ||
                       absl::IsFailedPrecondition(shared.status());
  return goes_on ? absl::OkStatus() : shared.status();
}

// Adds the collector's configs for this run to `bests` and its configs for other shapes to `others`.
void AddFromCollector(const v1::Run& run, const KnownSources& sources, std::vector<BestConfig>* bests,
                      std::vector<BestConfig>* others) {
  // After a query that failed, the next one would probably wait for its deadline, too, so it is skipped.
  absl::Status status = AddFromSharedCache(run, sources, bests);
  if (status.ok() && sources.collector != nullptr) {
    absl::StatusOr<BestConfig> same = AskForRun(run, *sources.collector);
    if (same.ok()) bests->push_back(*same);
    if (!absl::IsNotFound(same.status())) status = same.status();
  }
  if (status.ok() && sources.collector != nullptr) {
    absl::StatusOr<std::vector<BestConfig>> answer = AskForOthers(run, *sources.collector);
    status = answer.status();
    if (answer.ok()) *others = *std::move(answer);
  }
  if (!status.ok())
    Notice(sources, Cat("starting without the configs of the collector: ", std::string(status.message())));
}

}  // namespace

absl::StatusOr<BestConfig> FindBestConfig(const v1::Run& run, const KnownSources& sources) {
  absl::StatusOr<BestConfig> cached = sources.cache->Find(run.run_id());
  if (sources.collector == nullptr || (!cached.ok() && !absl::IsNotFound(cached.status()))) return cached;
  absl::StatusOr<BestConfig> collected = AskForRun(run, *sources.collector);
  if (!cached.ok()) return collected;
  if (!collected.ok() && !absl::IsNotFound(collected.status())) {
    Notice(sources, std::string(collected.status().message()));
  }
  return collected.ok() && collected->IsBetterThan(*cached) ? collected : cached;
}

KnownConfigs FindKnownConfigs(const v1::Run& run, const KnownSources& sources) {
  std::vector<BestConfig> bests;
  if (absl::StatusOr<BestConfig> cached = sources.cache->Find(run.run_id()); cached.ok()) {
    bests.push_back(*std::move(cached));
  }
  std::vector<BestConfig> collected;
  AddFromCollector(run, sources, &bests, &collected);

  UniqueConfigs of_run;
  for (const BestConfig& best : bests) {
    if (best.is_final) of_run.Add(best.config);
  }
  for (const BestConfig& best : bests) {
    for (const Config& config : best.runners_up) of_run.Add(config);
  }
  KnownConfigs known = {.of_run = of_run.Take()};

  UniqueConfigs points;
  for (const Config& config : known.of_run) points.Add(config);
  for (BestConfig& best : bests) points.Add(std::move(best.config));
  size_t others = 0;
  for (BestConfig& best : sources.cache->FindAll(run.kernel_name(), run.hardware())) {
    if (best.run_id == run.run_id() || others++ >= kMostOfOthers) continue;
    points.Add(std::move(best.config));
  }
  for (BestConfig& best : collected) points.Add(std::move(best.config));
  known.starting_points = points.Take();
  return known;
}

}  // namespace telemetry::worker::tune
