#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "worker/tune/search/earlier_results.h"
#include "worker/tune/search/generational_search.h"
#include "worker/tune/search/surrogate_model.h"

namespace telemetry::worker::tune::search {

// A search that uses a model of the results so far to rank many candidates: neighbours and mixtures of the best points,
// and random points. Most of a generation explores: it proposes the candidates with the largest expected gain, chosen
// so that they differ from each other. The rest, and the last generations completely, polish: they propose the
// neighbours of the best points with the smallest expected time. It does not wait for outcomes: points like those that
// have none yet are worth less, because their trials would give the same information. A search that repeats an earlier
// one proposes its configs, and uses the model only when these are exhausted or the results do not agree.
class SurrogateSearch : public GenerationalSearch {
 public:
  // `batch` is the number of configs of each generation after the first. With results of related runs, the first
  // generation has the configs that they predict to be fast. `earlier` are the results of the search to be repeated.
  SurrogateSearch(const codegen::ConfigSpace& space, SearchSetup setup, size_t batch, RelatedModel related,
                  const std::vector<Trial>& earlier = {})
      : GenerationalSearch(space, std::move(setup)),
        related_(std::move(related)),
        model_(this->space(), &related_, predicted_times().Variance()),
        batch_(batch),
        earlier_(this->space(), earlier) {}
  std::string name() const override { return "SurrogateSearch"; }

 protected:
  std::optional<size_t> GenerationSize() const override { return batch_; }
  void Fill(size_t count) override;
  void FillStart() override;
  bool NeedsOutcomes() const override;
  void Learnt() override;

 private:
  struct Candidate {
    Point point;
    double worth = 0;  // candidates with a larger value are proposed first
  };
  // Returns the worth of points from their features (ComputeFeatures) and the cost model's predictions.
  using Worth = absl::FunctionRef<Eigen::ArrayXd(const Eigen::MatrixXd& features, const Eigen::ArrayXd& predicted)>;

  bool IsLate() const;
  bool MayFollow() const { return next_earlier_ < earlier_.points().size() && earlier_.Agree(); }
  bool Follow(size_t count);
  void Explore(size_t count);
  void Polish(size_t count);
  void OfferInOrder(std::vector<Candidate> candidates, size_t size);
  void OfferApart(const std::vector<Candidate>& candidates, size_t count);
  void Consider(const std::vector<Point>& points, Worth worth, std::set<Point>* considered,
                std::vector<Candidate>* candidates);
  std::vector<Candidate> Climb(const std::vector<Point>& points, Worth worth, int rounds);
  std::vector<Point> AroundMostWorth(std::vector<Candidate>* candidates) const;
  std::vector<Point> Around(size_t best) const;
  std::vector<Point> Mixtures();

  const RelatedModel related_;
  SurrogateModel model_;
  const size_t batch_;
  EarlierResults earlier_;
  size_t next_earlier_ = 0;  // index in earlier_.points()
  size_t compared_ = 0;      // outcomes that were compared with earlier_
};

}  // namespace telemetry::worker::tune::search
