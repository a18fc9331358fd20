#pragma once

#include <string>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune::search {

// A search that proposes plausible random points (Sampler) and ignores all results.
class RandomSearch : public GenerationalSearch {
 public:
  using GenerationalSearch::GenerationalSearch;
  std::string name() const override { return "RandomSearch"; }

 protected:
  void Fill() override { OfferRandomUpTo(static_cast<size_t>(limits().first_generation)); }
};

}  // namespace telemetry::worker::tune::search
