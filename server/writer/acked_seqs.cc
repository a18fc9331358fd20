#include "server/writer/acked_seqs.h"

#include <algorithm>

#include "absl/status/status.h"

namespace telemetry::writer {

LostRecords AckedSeqs::Check(absl::Span<const storage::ProducerOpening> openings,
                             absl::Span<const storage::OpenOutcome> outcomes) {
  LostRecords lost;
  for (size_t i = 0; i < openings.size(); ++i) {
    if (!outcomes[i].status.ok()) continue;
    const uint64_t stored = outcomes[i].committed_seq;
    const uint64_t missing = Update(openings[i].producer_id, stored);
    const uint64_t known = stored + missing;
    const uint64_t claimed = std::min(openings[i].acked_seq - std::min(openings[i].acked_seq, known), kMostClaimed);
    lost.records += missing;
    lost.claimed += claimed;
    if (missing > 0 || claimed > 0) ++lost.producers;
  }
  return lost;
}

LostRecords AckedSeqs::Check(absl::Span<const storage::ProducerBatch> batches,
                             absl::Span<const storage::BatchOutcome> outcomes) {
  LostRecords lost;
  for (size_t i = 0; i < batches.size(); ++i) {
    // A gap in the log may be the first sign of a loss. The outcomes of other refused batches have no committed_seq.
    const bool is_known = outcomes[i].status.ok() || absl::IsOutOfRange(outcomes[i].status);
    const uint64_t missing = is_known ? Update(batches[i].producer_id, outcomes[i].committed_seq) : 0;
    lost.records += missing;
    if (missing > 0) ++lost.producers;
  }
  return lost;
}

uint64_t AckedSeqs::Update(const std::string& producer_id, uint64_t stored_seq) {
  const auto known = acked_.find(producer_id);
  if (known == acked_.end()) {
    if (stored_seq == 0) return 0;
    if (acked_.size() >= kMostProducers) acked_.clear();
    acked_.emplace(producer_id, stored_seq);
    return 0;
  }
  const uint64_t missing = known->second - std::min(known->second, stored_seq);
  known->second = stored_seq;
  return missing;
}

}  // namespace telemetry::writer
