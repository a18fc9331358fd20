#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune::search {

// A search that proposes the starting points and nothing else, in one generation.
class FiniteSearch : public GenerationalSearch {
 public:
  using GenerationalSearch::GenerationalSearch;
  std::string name() const override { return "FiniteSearch"; }

 protected:
  void Fill(size_t /*count*/) override {}
};

}  // namespace telemetry::worker::tune::search
