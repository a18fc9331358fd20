#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "worker/tune/process/step_report.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune {

// A search that runs on another thread, because it computes for as long as it takes to measure several configs. One
// question at a time. Used by the tuner's thread only.
class Proposer {
 public:
  // The answer to a question: the next configs, and the number of their generation.
  struct Proposal {
    std::vector<codegen::Config> configs;
    int generation = 0;
  };

  // `on_ready` is called from the other thread when a proposal is ready. Each computation is reported to `on_step` as
  // the step "propose".
  Proposer(std::unique_ptr<search::SearchAlgorithm> search, std::function<void()> on_ready,
           process::StepReport on_step = nullptr)
      : search_(std::move(search)), on_ready_(std::move(on_ready)), on_step_(std::move(on_step)) {}

  // Makes the search learn the results and then propose. is_asked() must be false.
  void Ask(std::vector<search::Trial> results);
  // Returns true from Ask to Take.
  bool is_asked() const { return proposal_.valid(); }
  // Waits at most `patience` for the proposal. Returns true if it is ready.
  bool Await(absl::Duration patience) const;
  // Waits for the proposal and returns it.
  Proposal Take() { return proposal_.get(); }

  // May be called while is_asked() is false.
  const search::SearchAlgorithm& search() const { return *search_; }

 private:
  const std::unique_ptr<search::SearchAlgorithm> search_;
  const std::function<void()> on_ready_;
  const process::StepReport on_step_;
  std::future<Proposal> proposal_;
  std::future<void> thread_;  // waits in its destructor
};

}  // namespace telemetry::worker::tune
