#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/random.h"
#include "worker/codegen/code_size.h"
#include "worker/tune/search/compile_times.h"
#include "worker/tune/search/point_space.h"
#include "worker/tune/search/predicted_times.h"
#include "worker/tune/search/pruning.h"
#include "worker/tune/search/sampler.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune::search {

// The limits of a search.
struct SearchLimits {
  int first_generation = 30;  // number of configs; more if there are more starting points
  int max_generations = 1;
  int max_configs = 1;
  int patience = 0;  // the search ends after this many generations without a gain; 0: never
};

// The constructor arguments that all algorithms share; see SearchOptions.
struct SearchSetup {
  SearchLimits limits;
  size_t most_at_once = std::numeric_limits<size_t>::max();
  uint64_t seed = 0;
  bool starts_with_default = true;
  std::vector<codegen::Config> starting_points;
  std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint;
  std::function<double(const codegen::Config&)> least_ms = {};
  std::function<codegen::CodeSize(const codegen::Config&)> code_size = {};
  PredictTime predict = {};
};

// A point that was proposed, with its result.
struct Outcome {
  Point point;
  std::optional<double> perf_ms;    // unset: the config did not run with correct results
  double predicted = 0;             // the time that a cost model predicts (PredictedTimes); 0 without a model
  std::optional<double> compile_s;  // Trial::compile_s
};

// The common part of all search algorithms: the first generation, the bookkeeping of proposed points and their
// outcomes, and the stopping rules. A derived class offers the points of later generations, and decides whether it
// waits for outcomes before.
class GenerationalSearch : public SearchAlgorithm {
 public:
  GenerationalSearch(const codegen::ConfigSpace& space, SearchSetup setup);

  std::vector<codegen::Config> Propose() final;
  int generation() const final { return generations_ - 1; }
  void Learn(absl::Span<const Trial> trials) final;
  const std::vector<std::string>& warnings() const final { return warnings_; }

 protected:
  // The number of points of each generation after the first; nullopt: as many as Fill offers in one call.
  virtual std::optional<size_t> GenerationSize() const { return std::nullopt; }
  // Fills a generation, or a part of it with `count` points, with calls of Offer and OfferRandom. The search is over if
  // no point is accepted.
  virtual void Fill(size_t count) = 0;
  // Offers points of the first generation, after the default and the starting points and before random ones.
  virtual void FillStart() {}
  // Returns true if more outcomes are needed before the next call of Fill. Called only if points have no outcome yet.
  virtual bool NeedsOutcomes() const { return true; }
  // Called after outcomes were added to outcomes(); if Fill offers whole generations, after each generation.
  virtual void Learnt() {}

  // Adds the point to the proposal. Returns false if the point was offered before, is not a valid config of the
  // space, is not worth a trial (Pruning, CompileTimes, SearchOptions::least_ms), has the same fingerprint as an
  // earlier point or no fingerprint, or exceeds max_configs.
  bool Offer(const Point& point);
  // The same for a point that is offered in any case, worth a trial or not.
  bool OfferAnyway(const Point& point) { return Take(point).ok(); }
  // Offers random points, first plausible and then arbitrary ones, until one is accepted. Returns false if none is
  // found or max_configs is reached.
  bool OfferRandom();
  // Calls OfferRandom until the proposal has `size` points.
  void OfferRandomUpTo(size_t size);
  bool is_full() const { return room_ == 0; }
  size_t offered() const { return offered_.size(); }
  bool WasOffered(const Point& point) const { return seen_.contains(PointKey(point)); }

  const PointSpace& space() const { return space_; }
  PredictedTimes& predicted_times() { return predicted_; }
  size_t most_at_once() const { return most_at_once_; }
  const SearchLimits& limits() const { return limits_; }
  Random& random() { return random_; }
  Sampler& sampler() { return sampler_; }
  // The outcomes so far, in the order in which they were learnt; if Fill offers whole generations, those of all earlier
  // generations in the order in which the points were proposed.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // The last points that were offered and refused, at most 200: those without a fingerprint, and those that are not
  // worth a trial because of their least time or their compiler's. They are not offered again.
  const std::deque<Point>& refused() const { return refused_; }
  // The points that were proposed and have no outcome yet.
  std::vector<Point> Unfinished() const;
  // Returns at most `count` outcomes with a perf_ms, fastest first.
  std::vector<Outcome> Best(size_t count) const;
  int generations() const { return generations_; }
  // The number of configs that may still be proposed.
  int room() const { return room_; }

 private:
  struct Proposed {
    uint64_t config_id = 0;
    Outcome outcome;
    bool is_learnt = false;
  };

  static std::string PointKey(const Point& point);
  // Returns OUT_OF_RANGE for a config that is not worth a trial.
  absl::Status CheckWorth(const codegen::Config& config);
  absl::Status Refuse(const Point& point, const absl::Status& reason);
  absl::Status Take(const Point& point, bool must_be_worth = false);
  void FillFirst();
  bool OfferAnyLeft();
  bool IsOver() const;
  bool BeginGeneration();
  bool IsUnfinished() const;
  void Learn(const Trial& trial);
  // Sets the predictions of the outcomes from index `begin` on.
  void AddPredictions(size_t begin);
  void LearnPruning();

  const PointSpace space_;
  PredictedTimes predicted_;
  Pruning pruning_;
  CompileTimes compile_times_;
  const SearchLimits limits_;
  const std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint_;
  const std::function<double(const codegen::Config&)> least_ms_;
  const std::function<codegen::CodeSize(const codegen::Config&)> code_size_;
  const size_t most_at_once_;
  const bool starts_with_default_;
  std::vector<codegen::Config> starting_points_;
  Random random_;
  Sampler sampler_;
  std::vector<std::string> warnings_;

  std::unordered_set<std::string> seen_;          // PointKey() of each point that was offered
  std::unordered_set<std::string> fingerprints_;  // of the points that were accepted
  std::deque<Point> refused_;
  std::vector<Point> offered_;      // in the current call of Propose
  std::vector<Proposed> proposed_;  // the points that are not in outcomes_ yet, in order
  std::vector<Outcome> outcomes_;
  int64_t next_left_ = 0;  // next index for OfferAnyLeft, which enumerates a small space
  int generations_ = 0;
  size_t left_in_generation_ = 0;
  int room_ = 0;
  std::optional<double> best_ms_;
  std::optional<double> best_before_ms_;  // when the current generation began
  int generations_without_gain_ = 0;
};

}  // namespace telemetry::worker::tune::search
