#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune::search {

// Differential evolution (Storn and Price 1997). In each generation every member of the population gets a child, which
// moves from the member towards one of the best members and along the difference of two other members. The child
// replaces the member if it is faster. The direction towards the best is taken from JADE (Zhang and Sanderson 2009).
class DifferentialEvolution : public GenerationalSearch {
 public:
  // `members` is the size of the population; at least 4, so that the differences of members are useful.
  DifferentialEvolution(const codegen::ConfigSpace& space, SearchSetup setup, size_t members)
      : GenerationalSearch(space, std::move(setup)), size_(members) {}
  std::string name() const override { return "DifferentialEvolutionSearch"; }

 protected:
  void Fill(size_t count) override;
  void Learnt() override;

 private:
  Point Child(const Point& member);
  int64_t Moved(size_t dimension, int64_t from, int64_t best, int64_t a, int64_t b, double factor);
  bool OfferChild(const Point& member);
  void Meet(size_t member, const Outcome& challenger);

  const size_t size_;
  std::vector<Outcome> members_;
  std::vector<size_t> challenged_;  // per point of this generation: the index of its parent in members_
};

}  // namespace telemetry::worker::tune::search
