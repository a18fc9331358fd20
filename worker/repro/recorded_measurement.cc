#include "worker/repro/recorded_measurement.h"

#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"

namespace telemetry::worker::repro {

using record::Cat;

namespace {

absl::StatusOr<v1::RunSummary> FindRun(client::DatasetClient& collector, const std::string& run) {
  v1::Filter filter;
  filter.set_run_id(run);
  ASSIGN_OR_RETURN(std::vector<v1::RunSummary> runs, collector.ListRuns(filter, 2));
  if (runs.empty()) {
    return absl::NotFoundError(
        Cat("the collector has no run ", run, "; the run_id column of an export lists its runs"));
  }
  if (runs.size() > 1) {
    return absl::InvalidArgumentError(Cat("several runs begin with ", run, ": ", runs[0].run().run_id(), ", ",
                                          runs[1].run().run_id(), ", ...; pass more digits"));
  }
  return std::move(runs.front());
}

// The preference among rows; a greater rank is preferred. Rows of an unknown stage count as search rows.
enum class Rank { kNoTime, kGivenUp, kSearch, kFinal };

Rank ComputeRank(const v1::Measurement& row, const v1::ExportRows& page) {
  if (row.status() != "ok" || !row.has_perf_ms()) return Rank::kNoTime;
  for (const v1::MeasurementDetail& detail : page.details()) {
    if (detail.seq() != row.seq()) continue;
    if (detail.stage() == v1::MeasurementDetail::STAGE_FINAL) return Rank::kFinal;
    if (detail.stage() == v1::MeasurementDetail::STAGE_SCREENING) return Rank::kGivenUp;
  }
  return Rank::kSearch;
}

// Extracts the text and the preferred row of one config from the export of a run.
class Reader {
 public:
  Reader(v1::Run run, uint64_t config_id) { found_ = {.run = std::move(run), .config_id = config_id}; }

  absl::Status Take(const v1::ExportItem& item) {
    for (const v1::Config& config : item.configs().configs()) {
      if (config.config_id() == found_.config_id) text_ = config.text();
    }
    if (item.has_attempt()) attempt_ = item.attempt().attempt();
    for (const v1::Measurement& row : item.rows().measurements()) {
      if (row.config_id() != found_.config_id) continue;
      const Rank rank = ComputeRank(row, item.rows());
      if (has_row_ && !IsBetter(row, rank)) continue;
      has_row_ = true;
      rank_ = rank;
      found_.row = row;
      found_.attempt = attempt_;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RecordedMeasurement> Finish() && {
    const std::string id = record::FormatConfigId(found_.config_id);
    if (!has_row_ || text_.empty()) {
      return absl::NotFoundError(Cat("run ", found_.run.run_id(), " has no measurement of config ", id,
                                     "; the config_id column of an export lists its configs"));
    }
    absl::StatusOr<codegen::Config> config = codegen::Config::Parse(text_);
    if (!config.ok()) return absl::InvalidArgumentError(Cat("config ", id, ": ", config.status().message()));
    found_.config = *std::move(config);
    return std::move(found_);
  }

 private:
  // Returns true if the row is preferred to the one found so far. Among rows without a time, the last one is preferred.
  bool IsBetter(const v1::Measurement& row, Rank rank) const {
    if (rank != rank_) return rank > rank_;
    return rank == Rank::kNoTime || row.perf_ms() < found_.row.perf_ms();
  }

  RecordedMeasurement found_;
  bool has_row_ = false;
  Rank rank_ = Rank::kNoTime;
  std::string text_;
  v1::Attempt attempt_;
};

}  // namespace

absl::StatusOr<RecordedMeasurement> FindMeasurement(client::DatasetClient& collector, const std::string& run,
                                                    std::optional<uint64_t> config_id) {
  ASSIGN_OR_RETURN(v1::RunSummary summary, FindRun(collector, run));
  if (!config_id.has_value()) {
    if (!summary.has_best_config_id()) {
      return absl::NotFoundError(Cat("no config of run ", summary.run().run_id(), " ran; name one with --config-id"));
    }
    config_id = summary.best_config_id();
  }
  v1::ExportRequest request;
  request.set_details(true);
  request.mutable_filter()->set_run_id(summary.run().run_id());
  Reader reader(summary.run(), *config_id);
  RETURN_IF_ERROR(collector.Export(request, [&reader](const v1::ExportItem& item) { return reader.Take(item); }));
  return std::move(reader).Finish();
}

std::string DeviceText(const v1::Attempt& attempt, std::string_view name) {
  const absl::StatusOr<record::Json> environment = record::ParseJson(attempt.environment_json());
  if (!environment.ok()) return "";
  const record::Json* device = environment->Find("device");
  const record::Json* member = device == nullptr ? nullptr : device->Find(name);
  return member == nullptr ? "" : member->text;
}

std::string ArchitectureOf(const v1::Attempt& attempt, std::vector<std::string>* notices) {
  constexpr char kDefaultArchitecture[] = "sm_90";
  std::string architecture = DeviceText(attempt, "architecture");
  if (!architecture.empty()) return architecture;
  notices->push_back(Cat("the architecture of the measurement is not recorded; assuming ", kDefaultArchitecture));
  return kDefaultArchitecture;
}

}  // namespace telemetry::worker::repro
