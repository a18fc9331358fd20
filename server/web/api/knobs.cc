#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/statistics/effects.h"
#include "proto/statistics/samples.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/knob_view.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using rows::Knob;

constexpr size_t kMostListedKnobs = 100;
constexpr size_t kMostListedValues = 200;
constexpr size_t kMostConstant = 200;
constexpr size_t kPairedKnobs = 12;
constexpr size_t kPairedConfigs = 3000;

// The configs that have a value of a knob, or lack the knob.
struct ValueCounts {
  std::vector<double> times;
  int64_t configs = 0;
  int64_t failed = 0;
};

// Returns the counts of each value, and last those of the configs without the knob.
std::vector<ValueCounts> CountValues(const KnobView& view, const Knob& knob) {
  std::vector<ValueCounts> counts(knob.values.size() + 1);
  for (size_t i = 0; i < view.configs.size(); ++i) {
    const int32_t value = knob.value_of[i];
    ValueCounts& count = value == Knob::kAbsent ? counts.back() : counts[static_cast<size_t>(value)];
    ++count.configs;
    if (view.configs[i].is_measured()) count.times.push_back(*view.configs[i].perf_ms);
    if (view.configs[i].kind == rows::StatusKind::kFailed) ++count.failed;
  }
  return counts;
}

void WriteValue(const std::optional<Knob::Value>& value, ValueCounts& count, JsonWriter& out) {
  const std::optional<statistics::Quantiles> quantiles = statistics::QuantilesOf(std::move(count.times));
  out.BeginObject();
  out.Field("text", value.has_value() ? std::optional<std::string>(value->text) : std::nullopt);
  out.Field("number", value.has_value() ? value->number : std::nullopt);
  out.Field("configs", count.configs);
  quantiles.has_value() ? out.Field("best_ms", quantiles->min) : out.Field("best_ms", nullptr);
  quantiles.has_value() ? out.Field("median_ms", quantiles->median) : out.Field("median_ms", nullptr);
  out.Field("failed", count.failed);
  out.EndObject();
}

void WriteKnob(const KnobView& view, const VariedKnob& varied, JsonWriter& out) {
  const Knob& knob = varied.knob;
  std::vector<ValueCounts> counts = CountValues(view, knob);
  const size_t shown = std::min(kMostListedValues, knob.values.size());
  out.BeginObject();
  out.Field("name", knob.name);
  out.Field("type", knob.is_number ? "number" : "text");
  out.BeginArray("values");
  if (counts.back().configs > 0) WriteValue(std::nullopt, counts.back(), out);
  for (size_t i = 0; i < shown; ++i) WriteValue(knob.values[i], counts[i], out);
  out.EndArray();
  out.Field("values_left_out", knob.values.size() - shown);
  out.Field("effect", varied.effect);
  out.Field("configs", std::count_if(knob.value_of.begin(), knob.value_of.end(),
                                     [](int32_t value) { return value != Knob::kAbsent; }));
  out.EndObject();
}

// The values of the measured configs that pairs are computed from: an even sample.
struct PairSample {
  std::vector<size_t> places;
  std::vector<double> logs;
};

PairSample SampleForPairs(const KnobView& view) {
  const auto measured =
      static_cast<size_t>(std::count_if(view.configs.begin(), view.configs.end(),
                                        [](const rows::MeasuredConfig& config) { return config.is_measured(); }));
  const size_t count = std::min(measured, kPairedConfigs);
  PairSample sample;
  for (size_t i = 0; i < count; ++i) {
    const size_t place = i * measured / count;
    sample.places.push_back(place);
    sample.logs.push_back(std::log(*view.configs[place].perf_ms));
  }
  return sample;
}

void WritePairs(const KnobView& view, JsonWriter& out) {
  const PairSample sample = SampleForPairs(view);
  const size_t paired = std::min(kPairedKnobs, view.knobs.size());
  std::vector<statistics::Groups> groups(paired);
  for (size_t knob = 0; knob < paired; ++knob) {
    for (const size_t place : sample.places) groups[knob].push_back(view.knobs[knob].knob.value_of[place] + 1);
  }
  out.BeginArray("pairs");
  for (size_t a = 0; a < paired; ++a) {
    for (size_t b = a + 1; b < paired; ++b) {
      const statistics::PairEffect pair = statistics::ExplainedByPair(sample.logs, groups[a], groups[b]);
      out.BeginObject();
      out.Field("a", view.knobs[a].knob.name);
      out.Field("b", view.knobs[b].knob.name);
      out.Field("effect", pair.effect);
      out.Field("interaction", pair.interaction);
      out.EndObject();
    }
  }
  out.EndArray();
}

void WriteConstant(const KnobView& view, JsonWriter& out) {
  out.BeginArray("constant");
  for (size_t i = 0; i < std::min(kMostConstant, view.constant.size()); ++i) {
    out.BeginObject();
    out.Field("name", view.constant[i].name);
    out.Field("text", view.constant[i].values.front().text);
    out.EndObject();
  }
  out.EndArray();
}

}  // namespace

absl::Status GetKnobs(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "format"}, {"attempt"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  ASSIGN_OR_RETURN(const KnobView view, ReadKnobView(call, scope));
  const size_t shown = std::min(kMostListedKnobs, view.knobs.size());
  out.BeginObject();
  out.BeginArray("knobs");
  for (size_t i = 0; i < shown; ++i) WriteKnob(view, view.knobs[i], out);
  out.EndArray();
  out.Field("knobs_left_out", view.knobs.size() - shown);
  WriteConstant(view, out);
  WritePairs(view, out);
  out.Field("configs", view.configs.size());
  out.Field("sampled", view.is_cut);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
