#include "server/web/api/comparison_ratio.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::web::api {
namespace {

using Attempts = std::vector<ComparedAttempt>;
using OptionalMs = std::optional<double>;
using MsList = std::vector<double>;

// Returns the ratio of two lists if it has an interval.
std::optional<ItemRatio> WithInterval(const MsList& baseline, const MsList& other, std::string_view basis) {
  const std::optional<statistics::Ratio> ratio = statistics::CompareMedians(baseline, other);
  if (!ratio.has_value() || !ratio->low.has_value()) return std::nullopt;
  return ItemRatio{.ratio = ratio, .basis = basis};
}

ItemRatio OfSingleTimes(const OptionalMs& baseline, const OptionalMs& other) {
  if (!baseline.has_value() || !other.has_value()) return {};
  return {.ratio = statistics::CompareMedians({*baseline}, {*other}), .basis = "none"};
}

ItemRatio MeanOf(const MsList& ratios, std::string_view basis) {
  return {.ratio = statistics::GeometricMean(ratios), .basis = ratios.empty() ? "none" : basis};
}

MsList Collect(const Attempts& attempts, OptionalMs ComparedAttempt::*time) {
  MsList times;
  for (const ComparedAttempt& attempt : attempts) {
    if ((attempt.*time).has_value()) times.push_back(*(attempt.*time));
  }
  return times;
}

absl::StatusOr<MsList> SamplesOf(RowDetailReader& details, const ComparedAttempt& best) {
  ASSIGN_OR_RETURN(RowDetails row, details.Read(best.key, best.best_seq));
  return std::move(row.samples_ms).value_or(MsList());
}

}  // namespace

absl::StatusOr<ItemRatio> BestRatio(RowDetailReader& details, const Attempts& baseline, const Attempts& other) {
  const ComparedAttempt* const best = BestOf(baseline);
  const ComparedAttempt* const other_best = BestOf(other);
  if (best == nullptr || other_best == nullptr) return ItemRatio();
  ASSIGN_OR_RETURN(const MsList samples, SamplesOf(details, *best));
  ASSIGN_OR_RETURN(const MsList other_samples, SamplesOf(details, *other_best));
  if (const auto ratio = WithInterval(samples, other_samples, "samples"); ratio.has_value()) return *ratio;
  const auto ratio =
      WithInterval(Collect(baseline, &ComparedAttempt::best_ms), Collect(other, &ComparedAttempt::best_ms), "attempts");
  return ratio.value_or(OfSingleTimes(best->best_ms, other_best->best_ms));
}

ItemRatio DefaultRatio(const Attempts& baseline, const Attempts& other) {
  const auto ratio = WithInterval(Collect(baseline, &ComparedAttempt::default_ms),
                                  Collect(other, &ComparedAttempt::default_ms), "attempts");
  const ComparedAttempt* const best = BestOf(baseline);
  const ComparedAttempt* const other_best = BestOf(other);
  if (ratio.has_value() || best == nullptr || other_best == nullptr) return ratio.value_or(ItemRatio());
  return OfSingleTimes(best->default_ms, other_best->default_ms);
}

ItemRatio CommonRatio(const ConfigTimes& baseline, const ConfigTimes& other) {
  MsList ratios;
  for (const auto& [id, time] : baseline) {
    if (const auto found = other.find(id); found != other.end()) ratios.push_back(found->second.ms / time.ms);
  }
  return MeanOf(ratios, "configs");
}

ItemRatio InputRatio(const std::vector<OptionalMs>& baseline, const std::vector<OptionalMs>& other) {
  MsList ratios;
  for (size_t i = 0; i < baseline.size(); ++i) {
    if (baseline[i].has_value() && other[i].has_value()) ratios.push_back(*other[i] / *baseline[i]);
  }
  return MeanOf(ratios, "shapes");
}

void WriteRatio(json::JsonWriter& out, std::string_view key, const ItemRatio& item) {
  const std::optional<statistics::Ratio>& ratio = item.ratio;
  out.BeginObject(key);
  out.Field("ratio", ratio.has_value() ? std::optional(ratio->ratio) : std::nullopt);
  out.Field("low", ratio.has_value() ? ratio->low : std::nullopt);
  out.Field("high", ratio.has_value() ? ratio->high : std::nullopt);
  out.Field("significant", ratio.has_value() ? ratio->IsSignificant() : std::nullopt);
  out.Field("count", ratio.has_value() ? ratio->count : size_t{0});
  out.Field("basis", item.basis);
  out.EndObject();
}

}  // namespace telemetry::web::api
