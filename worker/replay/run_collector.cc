#include "worker/replay/run_collector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "proto/record/strings.h"
#include "worker/codegen/config.h"
#include "worker/replay/median.h"

namespace telemetry::worker::replay {
namespace {

using Detail = v1::MeasurementDetail;

// Returns true for a row of a config that did not run: it hung, was excluded, or has the code of another config.
bool HasNoResult(const v1::Measurement& row) {
  return row.status() == "started" || row.status() == "filtered" || row.status() == "deduplicated" ||
         row.failure().phase() == "generate";
}

size_t RankOf(Detail::Stage stage) {
  if (stage == Detail::STAGE_SCREENING) return 2;
  return stage == Detail::STAGE_FINAL || stage == Detail::STAGE_REBENCHMARK ? 1 : 0;
}

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::string NameOf(const StoredRun& run) {
  return record::Cat(run.kernel_name.empty() ? run.run_id : run.kernel_name, " ", run.input_shapes, " ", run.dtypes,
                     " on ", run.hardware);
}

void RunCollector::Take(const v1::ExportItem& item) {
  if (item.has_run()) {
    const v1::Run& run = item.run().run();
    const auto [known, is_new] = by_run_id_.try_emplace(run.run_id(), nullptr);
    if (is_new) {
      known->second = &runs_.emplace_back(Collected{.run = {.run_id = run.run_id(),
                                                            .kernel_name = run.kernel_name(),
                                                            .input_shapes = run.input_shapes(),
                                                            .dtypes = run.dtypes(),
                                                            .hardware = run.hardware(),
                                                            .configs = {}},
                                                    .results = {}});
    }
    current_ = known->second;
  } else if (item.has_configs()) {
    for (const v1::Config& config : item.configs().configs()) texts_.emplace(config.config_id(), config.text());
  } else if (item.has_attempt()) {
    started_us_ = item.attempt().attempt().started_unix_us();
    has_result_ = false;
    started_s_.clear();
  } else if (item.has_rows() && current_ != nullptr) {
    Add(item.rows());
  }
}

void RunCollector::Add(const v1::ExportRows& rows) {
  int detail = 0;
  for (const v1::Measurement& row : rows.measurements()) {
    while (detail < rows.details_size() && rows.details(detail).seq() < row.seq()) ++detail;
    const bool has_detail = detail < rows.details_size() && rows.details(detail).seq() == row.seq();
    AddResult(row, has_detail ? &rows.details(detail) : nullptr);
  }
}

void RunCollector::AddResult(const v1::Measurement& row, const Detail* detail) {
  Results& results = current_->results[row.config_id()];
  if (row.status() == "started") started_s_[row.config_id()] = row.timestamp_s();
  if (HasNoResult(row)) return;
  if (!has_result_ && (current_->default_id == 0 || started_us_ < current_->default_started_us)) {
    current_->default_id = row.config_id();
    current_->default_started_us = started_us_;
  }
  has_result_ = true;

  double perf_ms = row.status() == "ok" ? row.perf_ms() : 0;
  double cost_s = row.compile_time_s();
  const auto started = started_s_.find(row.config_id());
  if (started != started_s_.end()) {
    cost_s += std::max(0.0, row.timestamp_s() - started->second);
    started_s_.erase(started);
  } else if (detail != nullptr) {
    cost_s += std::accumulate(detail->samples_ms().begin(), detail->samples_ms().end(), 0.0) / 1000;
  }
  if (detail != nullptr && detail->exact_perf_ms() > 0 && perf_ms > 0) perf_ms = detail->exact_perf_ms();
  const size_t rank = RankOf(detail == nullptr ? Detail::STAGE_UNSPECIFIED : detail->stage());
  if (IsPositive(perf_ms)) {
    results.times_ms[rank].push_back(perf_ms);
  } else {
    results.failed = true;
  }
  // Only the first measurement of a config compiles it.
  if (rank != 1 && IsPositive(cost_s)) results.costs_s.push_back(cost_s);
}

void RunCollector::AddConfigs(Collected& collected) const {
  StoredRun& run = collected.run;
  std::vector<double> known_costs_s;
  for (const auto& [id, results] : collected.results) {
    if (!results.costs_s.empty()) known_costs_s.push_back(MedianOf(results.costs_s));
  }
  for (const auto& [id, results] : collected.results) {
    const auto times = std::find_if(results.times_ms.begin(), results.times_ms.end(),
                                    [](const std::vector<double>& times_ms) { return !times_ms.empty(); });
    const bool has_time = times != results.times_ms.end();
    const auto text = texts_.find(id);
    absl::StatusOr<codegen::Config> config = codegen::Config::Parse(text == texts_.end() ? "" : text->second);
    if (!config.ok() || (!has_time && !results.failed) || known_costs_s.empty()) {
      ++run.left_out;
      continue;
    }
    const bool has_cost = !results.costs_s.empty();
    if (!has_cost) ++run.assumed_costs;
    StoredConfig stored = {.config = *std::move(config),
                           .perf_ms = has_time ? std::optional(MedianOf(*times)) : std::nullopt,
                           .cost_s = MedianOf(has_cost ? results.costs_s : known_costs_s)};
    run.configs.insert(id == collected.default_id ? run.configs.begin() : run.configs.end(), std::move(stored));
  }
}

std::vector<StoredRun> RunCollector::Finish() {
  std::vector<StoredRun> runs;
  for (Collected& collected : runs_) {
    if (collected.results.empty()) continue;
    AddConfigs(collected);
    runs.push_back(std::move(collected.run));
  }
  return runs;
}

}  // namespace telemetry::worker::replay
