#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/tune/search/point_space.h"
#include "worker/tune/search/random.h"
#include "worker/tune/search/sampler.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune {

struct SearchLimits {
  int first_generation = 30;  // configs, unless the starting points alone are more
  int max_generations = 1;
  int max_configs = 1;
  int patience = 0;  // generations without a gain after which it ends; 0: never
};

struct SearchSetup {
  SearchLimits limits;
  uint64_t seed = 0;
  bool starts_with_default = true;
  std::vector<codegen::Config> starting_points;
  std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint;
};

// A point that was proposed and came back.
struct Outcome {
  Point point;
  std::optional<double> perf_ms;
};

// What searches share: the first generation, what was proposed and what became of it, and when to stop. An algorithm
// offers points for the generations that follow.
class GenerationalSearch : public SearchAlgorithm {
 public:
  GenerationalSearch(const codegen::ConfigSpace& space, SearchSetup setup);

  std::vector<codegen::Config> Propose() final;
  void Learn(absl::Span<const Trial> trials) final;
  const std::vector<std::string>& warnings() const final { return warnings_; }

 protected:
  // Makes a generation by Offer and OfferRandom. Without one that was taken the search is over.
  virtual void Fill() = 0;
  // The outcomes of a generation were added.
  virtual void Learnt() {}

  // Takes the point into this generation; false where it was offered before, is no config of the space, makes what an
  // earlier one makes, or does not fit the limits.
  bool Offer(const Point& point);
  // A plausible point, then any. False: none could be found, or the limits are reached.
  bool OfferRandom();
  // Random ones until the generation has that many.
  void OfferRandomUpTo(size_t size);
  bool is_full() const { return room_ == 0; }
  size_t offered() const { return generation_.size(); }
  bool WasOffered(const Point& point) const { return seen_.contains(KeyOf(point)); }

  const PointSpace& space() const { return space_; }
  const SearchLimits& limits() const { return limits_; }
  Random& random() { return random_; }
  Sampler& sampler() { return sampler_; }
  // In the order in which they were proposed.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // The fastest first, at most that many. Those without perf_ms are not among them.
  std::vector<Outcome> Best(size_t count) const;
  int generations() const { return generations_; }
  // Configs that may still be proposed, in this generation and after.
  int room() const { return room_; }

 private:
  static std::string KeyOf(const Point& point);
  absl::Status Take(const Point& point);
  void FillFirst();
  bool OfferAnyLeft();
  bool IsOver() const;

  const PointSpace space_;
  const SearchLimits limits_;
  const std::function<absl::StatusOr<std::string>(const codegen::Config&)> fingerprint_;
  const bool starts_with_default_;
  std::vector<codegen::Config> starting_points_;
  Random random_;
  Sampler sampler_;
  std::vector<std::string> warnings_;

  std::unordered_set<std::string> seen_;          // KeyOf each point that was offered
  std::unordered_set<std::string> fingerprints_;  // of those that were taken
  std::vector<Point> generation_;
  std::vector<Outcome> outcomes_;
  int64_t next_left_ = 0;  // where the walk through a small space stands
  int generations_ = 0;
  int room_ = 0;
  std::optional<double> best_ms_;
  int generations_without_gain_ = 0;
};

}  // namespace telemetry::worker::tune
