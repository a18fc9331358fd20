#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune {

// Walks from the best points to their neighbours: each generation has the surroundings of the best few whose
// surroundings were not yet tried, first all single steps, then the steps that trade one size for another. A start that
// leads nowhere makes room for the next best, so that a search does not end in the first valley.
class PatternSearch : public GenerationalSearch {
 public:
  // `copies`: how many points a generation surrounds.
  PatternSearch(const codegen::ConfigSpace& space, SearchSetup setup, size_t copies)
      : GenerationalSearch(space, std::move(setup)), copies_(copies) {}
  std::string name() const override { return "PatternSearch"; }

 protected:
  void Fill() override;

 private:
  bool Surround(const Point& point);
  bool OfferAll(std::vector<Point> points);

  const size_t copies_;
  std::map<Point, int> surrounded_;  // how often: 1 with single steps, 2 with trades too
};

}  // namespace telemetry::worker::tune
