#include "worker/tune/proposer.h"

#include "absl/cleanup/cleanup.h"

namespace telemetry::worker::tune {

void Proposer::Ask(std::vector<search::Trial> results) {
  proposal_ = std::async(std::launch::async, [this, results = std::move(results)] {
    // Another call of Await follows, so the state need not be ready yet.
    const absl::Cleanup ready = [this] { on_ready_(); };
    search_->Learn(results);
    Proposal proposal;
    proposal.configs = search_->Propose();
    proposal.generation = search_->generation();
    return proposal;
  });
}

bool Proposer::Await(absl::Duration patience) const {
  return proposal_.wait_for(absl::ToChronoNanoseconds(patience)) == std::future_status::ready;
}

}  // namespace telemetry::worker::tune
