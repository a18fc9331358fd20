#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune {

// A population in which each member is challenged, once a generation, by a child that moves from the member towards one
// of the best and along the difference of two others. The faster of the two stays (Storn and Price 1997; the direction
// towards the best is that of JADE, Zhang and Sanderson 2009).
class DifferentialEvolution : public GenerationalSearch {
 public:
  // `members`: of the population; at least 4 for differences to mean something.
  DifferentialEvolution(const codegen::ConfigSpace& space, SearchSetup setup, size_t members)
      : GenerationalSearch(space, std::move(setup)), size_(members) {}
  std::string name() const override { return "DifferentialEvolutionSearch"; }

 protected:
  void Fill() override;
  void Learnt() override;

 private:
  Point Child(const Point& member);
  int64_t Moved(size_t dimension, int64_t from, int64_t best, int64_t a, int64_t b, double factor);
  bool OfferChild(const Point& member);
  void Meet(size_t member, const Outcome& challenger);

  const size_t size_;
  std::vector<Outcome> members_;
  std::vector<size_t> challenged_;  // member of each point of this generation
};

}  // namespace telemetry::worker::tune
