#include "server/writer/acked_seqs.h"

#include <algorithm>

#include "absl/status/status.h"

namespace telemetry::writer {

LostRecords AckedSeqs::Check(absl::Span<const storage::ProducerOpening> openings,
                             absl::Span<const storage::OpenOutcome> outcomes) {
  LostRecords lost;
  for (size_t i = 0; i < openings.size(); ++i) {
    if (!outcomes[i].status.ok()) continue;
    Learn(openings[i].producer_id, openings[i].acked_seq);
    Update(openings[i].producer_id, outcomes[i].committed_seq, &lost);
  }
  return lost;
}

LostRecords AckedSeqs::Check(absl::Span<const storage::ProducerBatch> batches,
                             absl::Span<const storage::BatchOutcome> outcomes) {
  LostRecords lost;
  for (size_t i = 0; i < batches.size(); ++i) {
    // A gap in the log may be the first sign of a loss. The outcomes of other refused batches have no committed_seq.
    const bool is_known = outcomes[i].status.ok() || absl::IsOutOfRange(outcomes[i].status);
    if (is_known) Update(batches[i].producer_id, outcomes[i].committed_seq, &lost);
  }
  return lost;
}

void AckedSeqs::Learn(const std::string& producer_id, uint64_t acked_seq) {
  if (acked_seq == 0) return;
  const auto known = acked_.find(producer_id);
  if (known != acked_.end()) {
    known->second = std::max(known->second, acked_seq);
    return;
  }
  if (acked_.size() >= kMostProducers) acked_.clear();
  acked_.emplace(producer_id, acked_seq);
}

void AckedSeqs::Update(const std::string& producer_id, uint64_t stored_seq, LostRecords* lost) {
  const auto known = acked_.find(producer_id);
  if (known == acked_.end()) {
    return Learn(producer_id, stored_seq);
  }
  if (stored_seq < known->second) {
    lost->records += known->second - stored_seq;
    ++lost->producers;
  }
  known->second = stored_seq;
}

}  // namespace telemetry::writer
