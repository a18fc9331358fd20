#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune::search {

// Pattern search: each generation proposes the neighbourhoods of the best few points whose neighbourhoods were not
// proposed yet, first all single steps, then the steps that trade one size for another. Once the neighbourhood of a
// point is exhausted, the next best point follows, so that the search does not end in the first local minimum.
class PatternSearch : public GenerationalSearch {
 public:
  // `copies` is the number of points whose neighbourhoods a generation proposes.
  PatternSearch(const codegen::ConfigSpace& space, SearchSetup setup, size_t copies)
      : GenerationalSearch(space, std::move(setup)), copies_(copies) {}
  std::string name() const override { return "PatternSearch"; }

 protected:
  void Fill(size_t count) override;

 private:
  bool Surround(const Point& point);
  bool OfferAll(std::vector<Point> points);

  const size_t copies_;
  std::map<Point, int> surrounded_;  // 1: the single steps of the point were proposed; 2: the trades, too
};

}  // namespace telemetry::worker::tune::search
