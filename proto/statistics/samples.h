#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace telemetry::statistics {

// Quantiles of a list of numbers.
struct Quantiles {
  int64_t count = 0;
  double min = 0;
  double p25 = 0;
  double median = 0;
  double p75 = 0;
  double max = 0;
};

// Parses a JSON array of numbers, as measurement_details.samples_ms_json contains it. At most `most` numbers are
// returned. Empty if the text is not such an array.
std::vector<double> ParseSamples(std::string_view json, size_t most);

// Returns the quantile, interpolated between neighbours. `sorted` must not be empty.
double Quantile(const std::vector<double>& sorted, double at);
std::optional<Quantiles> QuantilesOf(std::vector<double> values);
// Returns the interquartile range divided by the median, or nullopt for fewer than three values or a median of 0.
std::optional<double> RelativeSpread(std::vector<double> values);

}  // namespace telemetry::statistics
