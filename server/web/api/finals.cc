#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/statistics/ratio.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/row_details.h"
#include "server/web/api/run_scope.h"
#include "server/web/rows/measured_config.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::MeasuredConfig;

constexpr size_t kMostFinals = 50;
constexpr size_t kBestWithoutFinals = 20;
constexpr size_t kMostSamples = 500;

struct Final {
  MeasuredConfig row;
  RowDetails details;
  ConfigTexts::Config config;
};

// Returns the final rows, or the best rows if there are none, the fastest first.
std::vector<MeasuredConfig> SelectRows(std::vector<MeasuredConfig> configs, bool* are_final, size_t* left_out) {
  std::erase_if(configs,
                [](const MeasuredConfig& row) { return !row.is_measured() || row.stage == rows::Stage::kScreening; });
  const auto is_final = [](const MeasuredConfig& row) { return row.stage == rows::Stage::kFinal; };
  *are_final = std::any_of(configs.begin(), configs.end(), is_final);
  if (*are_final) std::erase_if(configs, [&](const MeasuredConfig& row) { return !is_final(row); });
  std::sort(configs.begin(), configs.end(), [](const MeasuredConfig& a, const MeasuredConfig& b) {
    return std::tuple(*a.perf_ms, a.attempt, a.seq) < std::tuple(*b.perf_ms, b.attempt, b.seq);
  });
  const size_t shown = std::min(configs.size(), *are_final ? kMostFinals : kBestWithoutFinals);
  *left_out = configs.size() - shown;
  configs.resize(shown);
  return configs;
}

void WriteRatio(const Final& best, const Final& final, JsonWriter& out) {
  const auto& samples = final.details.samples_ms;
  std::optional<statistics::Ratio> ratio;
  if (best.details.samples_ms.has_value() && samples.has_value()) {
    ratio = statistics::CompareMedians(*best.details.samples_ms, *samples);
  }
  out.Field("ratio", *final.row.perf_ms / *best.row.perf_ms);
  out.Field("ratio_low", ratio.has_value() ? ratio->low : std::nullopt);
  out.Field("ratio_high", ratio.has_value() ? ratio->high : std::nullopt);
  std::optional<bool> tied = final.details.tied_with_best;
  if (!tied.has_value() && ratio.has_value() && ratio->low.has_value()) tied = !*ratio->IsSignificant();
  if (&best == &final) tied = true;
  out.Field("tied", tied);
}

void WriteSamples(const RowDetails& details, JsonWriter& out) {
  if (!details.samples_ms.has_value()) {
    out.Field("samples_ms", nullptr);
    out.Field("samples_left_out", 0);
    return;
  }
  const std::vector<double>& samples = *details.samples_ms;
  const size_t shown = std::min(kMostSamples, samples.size());
  out.BeginArray("samples_ms");
  for (size_t i = 0; i < shown; ++i) out.Value(samples[i]);
  out.EndArray();
  out.Field("samples_left_out", samples.size() - shown);
}

void WriteFinal(const RunScope& scope, const Final& best, const Final& final, JsonWriter& out) {
  out.BeginObject();
  out.Field("attempt_id", scope.attempt_ids[static_cast<size_t>(final.row.attempt)]);
  out.Field("seq", final.row.seq);
  out.Field("config_id", final.config.id);
  out.Field("config", final.config.text);
  const std::string_view stage = rows::StageName(final.row.stage);
  stage.empty() ? out.Field("stage", nullptr) : out.Field("stage", stage);
  out.Field("perf_ms", final.row.perf_ms);
  WriteRatio(best, final, out);
  WriteSamples(final.details, out);
  WriteQuantiles(out, "quantiles", final.details.samples_ms);
  out.Field("throttled_samples", final.details.throttled_samples);
  out.EndObject();
}

}  // namespace

absl::Status GetFinals(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "format"}, {"attempt"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  ASSIGN_OR_RETURN(rows::MeasuredConfigs measured, rows::ReadMeasuredConfigs(call.dataset, scope.attempts, kMostRows));
  const bool is_cut = measured.is_cut;
  bool are_final = false;
  size_t left_out = 0;
  RowDetailReader details(call.dataset);
  ConfigTexts texts(call.dataset);
  std::vector<Final> finals;
  for (const MeasuredConfig& row : SelectRows(std::move(measured.configs), &are_final, &left_out)) {
    Final& final = finals.emplace_back(Final{.row = row, .details = {}, .config = {}});
    ASSIGN_OR_RETURN(final.details, details.Read(scope.attempts[static_cast<size_t>(row.attempt)], row.seq));
    ASSIGN_OR_RETURN(final.config, texts.ReadCut(row.config));
  }
  out.BeginObject();
  out.BeginArray("items");
  for (const Final& final : finals) WriteFinal(scope, finals.front(), final, out);
  out.EndArray();
  out.Field("left_out", left_out);
  out.Field("are_final", are_final);
  out.Field("cut", is_cut);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
