#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/storage/store.h"

namespace telemetry::writer {

// Acknowledged records that the dataset no longer has.
struct LostRecords {
  uint64_t records = 0;
  uint64_t producers = 0;
};

// The sequence numbers up to which the logs of producers were acknowledged: by this collector, or by another one
// according to the producer when it opened its log. A producer's account is used only to report a loss. If the dataset
// has less of a log, a database server was restored from a backup, or a standby without the last transactions took
// over. The producers then send the missing records again from their spools. Used by one thread.
class AckedSeqs {
 public:
  // A full table forgets all producers, and learns them again with their next records.
  static constexpr size_t kMostProducers = 65536;

  // Compare the outcomes with the sequence numbers that were acknowledged before, then remember those of the outcomes.
  // Return the records that are missing.
  LostRecords Check(absl::Span<const storage::ProducerOpening> openings,
                    absl::Span<const storage::OpenOutcome> outcomes);
  LostRecords Check(absl::Span<const storage::ProducerBatch> batches, absl::Span<const storage::BatchOutcome> outcomes);

 private:
  // Remembers that the log was acknowledged up to this record.
  void Learn(const std::string& producer_id, uint64_t acked_seq);
  void Update(const std::string& producer_id, uint64_t stored_seq, LostRecords* lost);

  absl::flat_hash_map<std::string, uint64_t> acked_;
};

}  // namespace telemetry::writer
