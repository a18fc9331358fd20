#include "worker/tune/search/related_runs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The noise of a run of equal shapes, for each doubling of a size, and for each other difference.
constexpr double kLeastRelation = 0.05;
constexpr double kOfDoubling = 0.05;
constexpr double kOfOtherDtypes = 0.3;
constexpr double kOfOtherDevice = 0.5;
constexpr double kOfOtherSource = 0.1;

// Returns all numbers in a text such as "[(4096, 2560)]".
std::vector<double> SizesIn(const std::string& shapes) {
  std::vector<double> sizes;
  for (const char* at = shapes.c_str(); *at != '\0';) {
    char* end = const_cast<char*>(at) + 1;
    if (std::isdigit(static_cast<unsigned char>(*at)) != 0) sizes.push_back(std::strtod(at, &end));
    at = end;
  }
  return sizes;
}

}  // namespace

double ShapeDistance(const std::string& shapes, const std::string& other_shapes) {
  const std::vector<double> sizes = SizesIn(shapes);
  const std::vector<double> others = SizesIn(other_shapes);
  if (sizes.size() != others.size()) return kInfinity;
  double distance = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    distance += std::abs(std::log2(std::max(sizes[i], 1.0)) - std::log2(std::max(others[i], 1.0)));
  }
  return distance;
}

double RelationNoise(const RunTraits& run, const RunTraits& other) {
  return kLeastRelation + kOfDoubling * ShapeDistance(run.input_shapes, other.input_shapes) +
         (run.dtypes == other.dtypes ? 0 : kOfOtherDtypes) + (run.hardware == other.hardware ? 0 : kOfOtherDevice) +
         (run.source == other.source ? 0 : kOfOtherSource);
}

std::vector<Trial> SelectTrials(std::vector<Trial> trials) {
  if (trials.size() <= kMostRelatedTrials) return trials;
  const auto time = [](const Trial& trial) { return trial.perf_ms.value_or(kInfinity); };
  std::stable_sort(trials.begin(), trials.end(), [&time](const Trial& a, const Trial& b) { return time(a) < time(b); });
  constexpr size_t kFastest = kMostRelatedTrials / 2;
  constexpr size_t kOthers = kMostRelatedTrials - kFastest;
  const size_t left = trials.size() - kFastest;
  for (size_t i = 0; i < kOthers; ++i) trials[kFastest + i] = trials[kFastest + i * left / kOthers];
  trials.resize(kMostRelatedTrials);
  return trials;
}

}  // namespace telemetry::worker::tune::search
