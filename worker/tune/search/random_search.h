#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "worker/tune/search/generational_search.h"

namespace telemetry::worker::tune::search {

// A search that proposes plausible random points (Sampler) and ignores all results.
class RandomSearch : public GenerationalSearch {
 public:
  using GenerationalSearch::GenerationalSearch;
  std::string name() const override { return "RandomSearch"; }

 protected:
  std::optional<size_t> GenerationSize() const override { return static_cast<size_t>(limits().first_generation); }
  void Fill(size_t count) override { OfferRandomUpTo(count); }
  bool NeedsOutcomes() const override { return false; }
};

}  // namespace telemetry::worker::tune::search
