#include "worker/tune/search/generational_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::search {
namespace {

using codegen::Config;
using record::Cat;

constexpr int kPlausibleTries = 64;
constexpr int kUniformTries = 64;
constexpr int64_t kSmallSpace = 1 << 16;  // spaces up to this size are enumerated when random points are exhausted
constexpr size_t kMostRefused = 200;
constexpr double kGain = 0.002;  // the relative improvement of the best time that counts as a gain

bool IsTime(const std::optional<double>& perf_ms) { return perf_ms && std::isfinite(*perf_ms) && *perf_ms > 0; }

}  // namespace

GenerationalSearch::GenerationalSearch(const codegen::ConfigSpace& space, SearchSetup setup)
    : space_(space),
      predicted_(&space_, std::move(setup.predict)),
      limits_(setup.limits),
      fingerprint_(std::move(setup.fingerprint)),
      least_ms_(std::move(setup.least_ms)),
      code_size_(std::move(setup.code_size)),
      most_at_once_(setup.most_at_once),
      starts_with_default_(setup.starts_with_default),
      starting_points_(std::move(setup.starting_points)),
      random_(setup.seed),
      sampler_(&space_, &random_),
      room_(setup.limits.max_configs) {}

std::string GenerationalSearch::PointKey(const Point& point) {
  return {reinterpret_cast<const char*>(point.data()), point.size() * sizeof(point[0])};
}

std::vector<Config> GenerationalSearch::Propose() {
  if (IsUnfinished() && NeedsOutcomes()) return {};
  if (left_in_generation_ == 0 && !BeginGeneration()) return {};
  offered_.clear();
  if (generations_ == 1) {
    FillFirst();
    left_in_generation_ = 0;
  } else {
    Fill(std::min(left_in_generation_, most_at_once_));
    left_in_generation_ = GenerationSize() ? left_in_generation_ - std::min(left_in_generation_, offered()) : 0;
  }
  if (offered_.empty()) room_ = 0;
  if (room_ == 0) left_in_generation_ = 0;
  std::vector<Config> configs;
  configs.reserve(offered_.size());
  for (Point& point : offered_) {
    configs.push_back(space_.ToConfig(point));
    proposed_.push_back({.config_id = configs.back().id(), .outcome = {.point = std::move(point)}});
  }
  return configs;
}

// Returns false if the search is over.
bool GenerationalSearch::BeginGeneration() {
  if (generations_ > 0) {
    const bool gained = best_ms_ && (!best_before_ms_ || *best_ms_ < *best_before_ms_ * (1 - kGain));
    generations_without_gain_ = gained ? 0 : generations_without_gain_ + 1;
  }
  if (IsOver()) return false;
  best_before_ms_ = best_ms_;
  left_in_generation_ = GenerationSize().value_or(1);
  ++generations_;
  return true;
}

bool GenerationalSearch::IsOver() const {
  if (room_ == 0 || generations_ >= limits_.max_generations) return true;
  return limits_.patience > 0 && generations_without_gain_ >= limits_.patience;
}

bool GenerationalSearch::IsUnfinished() const {
  return std::any_of(proposed_.begin(), proposed_.end(), [](const Proposed& proposed) { return !proposed.is_learnt; });
}

void GenerationalSearch::Learn(absl::Span<const Trial> trials) {
  const size_t before = outcomes_.size();
  for (const Trial& trial : trials) Learn(trial);
  if (!GenerationSize() && !IsUnfinished()) {
    for (Proposed& proposed : proposed_) outcomes_.push_back(std::move(proposed.outcome));
    proposed_.clear();
  }
  if (outcomes_.size() == before) return;
  if (predicted_.has_model()) {
    AddPredictions(before);
    LearnPruning();
  }
  Learnt();
}

void GenerationalSearch::AddPredictions(size_t begin) {
  std::vector<Point> points;
  for (size_t i = begin; i < outcomes_.size(); ++i) points.push_back(outcomes_[i].point);
  const std::vector<double> predicted = predicted_.Of(points);
  for (size_t i = begin; i < outcomes_.size(); ++i) outcomes_[i].predicted = predicted[i - begin];
}

void GenerationalSearch::LearnPruning() {
  std::vector<double> predicted;
  std::vector<double> log_times;
  for (const Outcome& outcome : outcomes_) {
    if (!outcome.perf_ms) continue;
    predicted.push_back(outcome.predicted);
    log_times.push_back(std::log(*outcome.perf_ms));
  }
  pruning_.Learn(predicted, log_times);
}

void GenerationalSearch::Learn(const Trial& trial) {
  const auto found = std::find_if(proposed_.begin(), proposed_.end(), [&](const Proposed& proposed) {
    return proposed.config_id == trial.config.id() && !proposed.is_learnt;
  });
  if (found == proposed_.end()) return;
  found->is_learnt = true;
  if (IsTime(trial.compile_s)) {
    found->outcome.compile_s = trial.compile_s;
    if (code_size_) compile_times_.Add(code_size_(trial.config), *trial.compile_s);
  }
  if (IsTime(trial.perf_ms)) {
    if (code_size_ && (!best_ms_ || *trial.perf_ms < *best_ms_)) compile_times_.SetBest(code_size_(trial.config));
    found->outcome.perf_ms = trial.perf_ms;
    best_ms_ = std::min(best_ms_.value_or(*trial.perf_ms), *trial.perf_ms);
  }
  if (!GenerationSize()) return;
  outcomes_.push_back(std::move(found->outcome));
  proposed_.erase(found);
}

std::vector<Point> GenerationalSearch::Unfinished() const {
  std::vector<Point> points;
  for (const Proposed& proposed : proposed_) {
    if (!proposed.is_learnt) points.push_back(proposed.outcome.point);
  }
  return points;
}

void GenerationalSearch::FillFirst() {
  if (starts_with_default_) Offer(space_.Default());
  for (const Config& config : starting_points_) {
    absl::StatusOr<Point> point = space_.ToPoint(config);
    const absl::Status taken = point.ok() ? Take(*point) : point.status();
    if (!taken.ok() && taken.code() != absl::StatusCode::kAlreadyExists) {
      warnings_.push_back(Cat("starting point ", config.ToString(), " is left out: ", taken.message()));
    }
  }
  FillStart();
  OfferRandomUpTo(static_cast<size_t>(limits_.first_generation));
}

absl::Status GenerationalSearch::Take(const Point& point, bool must_be_worth) {
  if (room_ == 0)
    return absl::ResourceExhaustedError(
        Cat("the search is limited to ", record::Counted(static_cast<uint64_t>(limits_.max_configs), "config")));
  if (!seen_.insert(PointKey(point)).second) return absl::AlreadyExistsError("proposed before");
  if (!space_.IsValid(point)) return absl::InvalidArgumentError("not a valid config of the space");
  const Config config = space_.ToConfig(point);
  absl::StatusOr<std::string> fingerprint;
  if (fingerprint_) {
    fingerprint = fingerprint_(config);
    if (!fingerprint.ok()) return Refuse(point, fingerprint.status());
  }
  if (must_be_worth) {
    if (absl::Status worth = CheckWorth(config); !worth.ok()) return Refuse(point, worth);
  }
  if (fingerprint_ && !fingerprints_.insert(*std::move(fingerprint)).second) {
    return absl::AlreadyExistsError("has the fingerprint of an earlier config");
  }
  offered_.push_back(point);
  --room_;
  return absl::OkStatus();
}

absl::Status GenerationalSearch::CheckWorth(const Config& config) {
  if (least_ms_ && best_ms_ && least_ms_(config) > kLeastOfBest * *best_ms_) {
    return absl::OutOfRangeError("cannot be faster than an earlier config");
  }
  if (code_size_ && compile_times_.IsTooLong(code_size_(config))) {
    return absl::OutOfRangeError("would be compiled for much longer than others");
  }
  return absl::OkStatus();
}

absl::Status GenerationalSearch::Refuse(const Point& point, const absl::Status& reason) {
  refused_.push_back(point);
  if (refused_.size() > kMostRefused) refused_.pop_front();
  return reason;
}

bool GenerationalSearch::Offer(const Point& point) {
  // The bound of Pruning changes with each result, so that the point may be offered again.
  if (predicted_.has_model() && !WasOffered(point) && pruning_.IsHopeless(predicted_.Of(point))) return false;
  return Take(point, /*must_be_worth=*/true).ok();
}

bool GenerationalSearch::OfferRandom() {
  for (int i = 0; i < kPlausibleTries && !is_full(); ++i) {
    if (Offer(sampler_.Plausible())) return true;
  }
  for (int i = 0; i < kUniformTries && !is_full(); ++i) {
    if (Offer(sampler_.Uniform())) return true;
  }
  return OfferAnyLeft();
}

bool GenerationalSearch::OfferAnyLeft() {
  if (space_.valid_size() > kSmallSpace) return false;
  while (!is_full() && next_left_ < space_.valid_size()) {
    if (Offer(space_.ValidAt(next_left_++))) return true;
  }
  return false;
}

void GenerationalSearch::OfferRandomUpTo(size_t size) {
  while (offered() < size && OfferRandom()) {
  }
}

std::vector<Outcome> GenerationalSearch::Best(size_t count) const {
  std::vector<Outcome> best;
  for (const Outcome& outcome : outcomes_) {
    if (outcome.perf_ms) best.push_back(outcome);
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const Outcome& a, const Outcome& b) { return *a.perf_ms < *b.perf_ms; });
  if (best.size() > count) best.resize(count);
  return best;
}

}  // namespace telemetry::worker::tune::search
