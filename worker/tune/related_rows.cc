#include "worker/tune/related_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/strings.h"
#include "telemetry/v1/dataset.pb.h"
#include "worker/codegen/config.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune {
namespace {

// Limit of the runs of a kernel that the collector lists.
constexpr size_t kMostListedRuns = 500;
// Runs with fewer rows say little.
constexpr uint64_t kLeastRows = 5;
// No further run is read after this time; a run that is being read has the deadline of the client.
constexpr absl::Duration kPatience = absl::Seconds(5);

search::RunTraits TraitsOf(const v1::Run& run) {
  return {.input_shapes = run.input_shapes(),
          .dtypes = run.dtypes(),
          .hardware = run.hardware(),
          .source = run.kernel_source()};
}

// A run of the kernel, not read yet.
struct ListedRun {
  std::string run_id;
  double noise = 0;
};

absl::StatusOr<std::vector<ListedRun>> ListRelated(const v1::Run& run, client::DatasetClient& collector) {
  v1::Filter filter;
  filter.set_kernel_name(run.kernel_name());
  ASSIGN_OR_RETURN(const std::vector<v1::RunSummary> summaries, collector.ListRuns(filter, kMostListedRuns));
  std::vector<ListedRun> listed;
  for (const v1::RunSummary& summary : summaries) {
    const double noise = search::RelationNoise(TraitsOf(run), TraitsOf(summary.run()));
    if (!std::isfinite(noise) || summary.measurements() < kLeastRows) continue;
    listed.push_back({.run_id = summary.run().run_id(), .noise = noise});
  }
  search::KeepNearest(&listed);
  return listed;
}

// Collects the results of each config of a run: the last time that was measured, or a failure.
class RowCollector {
 public:
  // Returns an error, which ends the reading, after kMostRelatedRows rows.
  absl::Status Take(const v1::ExportItem& item) {
    for (const v1::Config& config : item.configs().configs()) texts_.emplace(config.config_id(), config.text());
    for (const v1::Measurement& row : item.rows().measurements()) {
      if (has_enough()) return absl::CancelledError("enough rows");
      ++rows_;
      Take(row);
    }
    return absl::OkStatus();
  }

  bool has_enough() const { return rows_ == kMostRelatedRows; }

  std::vector<search::Trial> Finish() {
    std::vector<search::Trial> trials;
    for (const auto& [id, perf_ms] : results_) {
      const auto text = texts_.find(id);
      if (text == texts_.end()) continue;
      absl::StatusOr<codegen::Config> config = codegen::Config::Parse(text->second);
      if (config.ok()) trials.push_back({.config = *std::move(config), .perf_ms = perf_ms});
    }
    return search::SelectTrials(std::move(trials));
  }

 private:
  void Take(const v1::Measurement& row) {
    const std::string& status = row.status();
    if (status == recording::status::kStarted || status == recording::status::kFiltered ||
        status == recording::status::kDeduplicated)
      return;
    const bool ran = status == recording::status::kOk && std::isfinite(row.perf_ms()) && row.perf_ms() > 0;
    std::optional<double>& result = results_[row.config_id()];
    if (ran) result = row.perf_ms();
  }

  std::map<uint64_t, std::string> texts_;
  std::map<uint64_t, std::optional<double>> results_;
  size_t rows_ = 0;
};

absl::StatusOr<std::vector<search::Trial>> ReadTrials(const std::string& run_id, client::DatasetClient& collector) {
  v1::ExportRequest request;
  request.mutable_filter()->set_run_id(run_id);
  RowCollector rows;
  const absl::Status status =
      collector.Export(request, [&rows](const v1::ExportItem& item) { return rows.Take(item); });
  if (!status.ok() && !rows.has_enough()) return status;
  return rows.Finish();
}

}  // namespace

std::vector<search::RelatedRun> FindRelatedRuns(const v1::Run& run, client::DatasetClient& collector,
                                                const std::function<void(const std::string&)>& on_notice) {
  std::vector<search::RelatedRun> related;
  const SteadyTime began = SteadyNow();
  const absl::StatusOr<std::vector<ListedRun>> listed = ListRelated(run, collector);
  absl::Status status = listed.status();
  for (size_t i = 0; status.ok() && i < listed->size(); ++i) {
    if (absl::FromChrono(SteadyNow() - began) > kPatience) break;
    absl::StatusOr<std::vector<search::Trial>> trials = ReadTrials((*listed)[i].run_id, collector);
    status = trials.status();
    if (trials.ok() && !trials->empty()) {
      related.push_back({.trials = *std::move(trials), .noise = (*listed)[i].noise});
    }
  }
  if (!status.ok() && on_notice) {
    on_notice(record::Cat("searching without some results of related runs: ", std::string(status.message())));
  }
  return related;
}

}  // namespace telemetry::worker::tune
