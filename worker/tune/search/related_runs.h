#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune::search {

// The properties of a run by which runs of one kernel are related.
struct RunTraits {
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  std::string source;  // hash or text of the kernel's source; empty: not known
};

// The results of a run of the same kernel with other shapes, dtypes, source or device.
struct RelatedRun {
  std::vector<Trial> trials;
  // Variance of what the results say about the run to be tuned, relative to the variance among them. At least 0.
  double noise = 0;
};

// The most related runs that a search uses, and the most results of one.
inline constexpr size_t kMostRelatedRuns = 8;
inline constexpr size_t kMostRelatedTrials = 120;

// Returns the distance between the shapes of two runs: the sum of |log2| of the ratios of their sizes; infinity if the
// number of sizes differs.
double ShapeDistance(const std::string& shapes, const std::string& other_shapes);

// Returns RelatedRun::noise for the results of `other` in a search for `run`: it grows with the distance of the shapes,
// and with each of dtypes, device and source that differs. Infinity: they cannot be compared.
double RelationNoise(const RunTraits& run, const RunTraits& other);

// Keeps the kMostRelatedRuns runs with the least `noise`, in this order.
template <typename Run>
void KeepNearest(std::vector<Run>* runs) {
  std::stable_sort(runs->begin(), runs->end(), [](const Run& a, const Run& b) { return a.noise < b.noise; });
  if (runs->size() > kMostRelatedRuns) runs->erase(runs->begin() + kMostRelatedRuns, runs->end());
}

// Returns at most kMostRelatedTrials trials: the fastest half, and an even selection of the others, failures included.
std::vector<Trial> SelectTrials(std::vector<Trial> trials);

}  // namespace telemetry::worker::tune::search
