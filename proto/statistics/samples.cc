#include "proto/statistics/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace telemetry::statistics {

std::vector<double> ParseSamples(std::string_view json, size_t most) {
  std::vector<double> samples;
  const char* at = json.data();
  const char* const end = at + json.size();
  while (at != end && samples.size() < most) {
    if (*at == '[' || *at == ',' || *at == ' ' || *at == ']') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) return {};
    samples.push_back(value);
    at = next;
  }
  return samples;
}

double Quantile(const std::vector<double>& sorted, double at) {
  const double position = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * share;
}

std::optional<Quantiles> QuantilesOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Quantiles{.count = static_cast<int64_t>(values.size()),
                   .min = values.front(),
                   .p25 = Quantile(values, 0.25),
                   .median = Quantile(values, 0.5),
                   .p75 = Quantile(values, 0.75),
                   .max = values.back()};
}

std::optional<double> RelativeSpread(std::vector<double> values) {
  const std::optional<Quantiles> quantiles = QuantilesOf(std::move(values));
  if (!quantiles.has_value() || quantiles->count < 3 || quantiles->median <= 0) return std::nullopt;
  return (quantiles->p75 - quantiles->p25) / quantiles->median;
}

}  // namespace telemetry::statistics
