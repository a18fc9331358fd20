#include "server/web/api/knob_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/statistics/effects.h"

namespace telemetry::web::api {
namespace {

using rows::Knob;
using rows::MeasuredConfig;

constexpr size_t kMostKnobs = 400;
// The most results that are analysed; of more, the fastest ones and an even sample.
constexpr size_t kMostConfigs = 20000;

double SortTime(const MeasuredConfig& config) {
  return config.is_measured() ? *config.perf_ms : std::numeric_limits<double>::infinity();
}

bool IsFaster(const MeasuredConfig& a, const MeasuredConfig& b) {
  return std::pair(SortTime(a), std::pair(a.attempt, a.seq)) < std::pair(SortTime(b), std::pair(b.attempt, b.seq));
}

// Returns the effect of a knob on the time of the measured configs, which are the first `measured` ones.
std::optional<double> Effect(const Knob& knob, const std::vector<double>& logs) {
  statistics::Groups groups;
  groups.reserve(logs.size());
  for (size_t i = 0; i < logs.size(); ++i) groups.push_back(knob.value_of[i] + 1);  // 0: absent
  return statistics::ExplainedVariance(logs, groups);
}

void Classify(std::vector<Knob> knobs, KnobView* view) {
  std::vector<double> logs;
  for (const MeasuredConfig& config : view->configs) {
    if (config.is_measured()) logs.push_back(std::log(*config.perf_ms));
  }
  for (Knob& knob : knobs) {
    if (knob.CountValues() < 2) {
      view->constant.push_back(std::move(knob));
    } else {
      const std::optional<double> effect = Effect(knob, logs);
      view->knobs.push_back({.knob = std::move(knob), .effect = effect});
    }
  }
  std::stable_sort(view->knobs.begin(), view->knobs.end(), [](const VariedKnob& a, const VariedKnob& b) {
    return a.effect.value_or(-1) > b.effect.value_or(-1);
  });
}

// Keeps the best tenth of the places and an even sample of the rest.
void Thin(size_t most, std::vector<MeasuredConfig>* configs) {
  if (configs->size() <= most) return;
  const size_t best = most / 10;
  const size_t rest = configs->size() - best;
  const size_t places = most - best;
  for (size_t i = 0; i < places; ++i) (*configs)[best + i] = (*configs)[best + i * rest / places];
  configs->resize(most);
}

}  // namespace

absl::StatusOr<KnobView> ReadKnobView(const Call& call, const RunScope& scope) {
  ASSIGN_OR_RETURN(rows::MeasuredConfigs measured, rows::ReadMeasuredConfigs(call.dataset, scope.attempts, kMostRows));
  KnobView view = {.configs = std::move(measured.configs), .is_cut = measured.is_cut};
  std::erase_if(view.configs, [](const MeasuredConfig& config) { return config.kind == rows::StatusKind::kNoResult; });
  std::sort(view.configs.begin(), view.configs.end(), IsFaster);
  view.is_cut = view.is_cut || view.configs.size() > kMostConfigs;
  Thin(kMostConfigs, &view.configs);
  std::vector<int64_t> keys;
  keys.reserve(view.configs.size());
  for (const MeasuredConfig& config : view.configs) keys.push_back(config.config);
  ASSIGN_OR_RETURN(view.table, rows::ConfigTable::Read(call.dataset, keys));
  Classify(rows::FindKnobs(view.table, keys, kMostKnobs), &view);
  return view;
}

}  // namespace telemetry::web::api
