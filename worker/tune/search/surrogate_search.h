#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/tune/search/generational_search.h"
#include "worker/tune/search/surrogate_model.h"

namespace telemetry::worker::tune {

// Asks a model of the results so far which of many candidates (surroundings and mixtures of the best, random ones) are
// worth a trial: first those that may gain most, chosen apart from each other; towards the end what is expected to be
// fastest next to the best.
class SurrogateSearch : public GenerationalSearch {
 public:
  // `batch`: configs a generation after the first.
  SurrogateSearch(const codegen::ConfigSpace& space, SearchSetup setup, size_t batch)
      : GenerationalSearch(space, std::move(setup)), model_(this->space()), batch_(batch) {}
  std::string name() const override { return "SurrogateSearch"; }

 protected:
  void Fill() override;

 private:
  struct Candidate {
    Point point;
    Features features;
    double worth = 0;  // the more, the rather
  };

  void Explore(size_t count);
  void Polish(size_t count);
  void OfferApart(std::vector<Candidate> candidates, size_t count);
  void Consider(const std::vector<Point>& points, std::set<Point>* considered,
                std::vector<Candidate>* candidates) const;
  std::vector<Point> AroundMostWorth(std::vector<Candidate>* candidates);
  std::vector<Candidate> Unseen(const std::vector<Point>& points) const;
  std::vector<Point> Around(size_t best) const;
  std::vector<Point> Mixtures();

  SurrogateModel model_;
  const size_t batch_;
};

}  // namespace telemetry::worker::tune
