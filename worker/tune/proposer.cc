#include "worker/tune/proposer.h"

#include <optional>

namespace telemetry::worker::tune {

void Proposer::Ask(std::vector<search::Trial> results) {
  std::promise<Proposal> promise;
  proposal_ = promise.get_future();
  thread_ =
      std::async(std::launch::async, [this, results = std::move(results), promise = std::move(promise)]() mutable {
        std::optional<process::ReportedStep> step(std::in_place, on_step_, "propose");
        search_->Learn(results);
        Proposal proposal;
        proposal.configs = search_->Propose();
        proposal.generation = search_->generation();
        step.reset();
        promise.set_value(std::move(proposal));
        on_ready_();
      });
}

bool Proposer::Await(absl::Duration patience) const {
  return proposal_.wait_for(absl::ToChronoNanoseconds(patience)) == std::future_status::ready;
}

}  // namespace telemetry::worker::tune
