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
  uint64_t records = 0;    // that this collector acknowledged
  uint64_t claimed = 0;    // beyond these, according to producers; at most kMostClaimed for each opening
  uint64_t producers = 0;  // of either kind
};

// The sequence numbers up to which this collector has acknowledged the logs of producers. If the dataset has less of a
// log, a database server was restored from a backup, or a standby without the last transactions took over. The
// producers then send the missing records again from their spools. Used by one thread.
//
// A producer that opens its log says what any collector has acknowledged, which is how a collector that was started
// after the loss notices it. Such a claim is not believed beyond its report: it is counted apart and not remembered.
class AckedSeqs {
 public:
  // No log loses more records at once. A sum of claims stays exact in a metric, which is a double.
  static constexpr uint64_t kMostClaimed = 1'000'000'000;
  // A full table forgets all producers, and learns them again with their next records.
  static constexpr size_t kMostProducers = 65536;

  // Compare the outcomes with the sequence numbers that were acknowledged before, then remember those of the outcomes.
  // Return the records that are missing.
  LostRecords Check(absl::Span<const storage::ProducerOpening> openings,
                    absl::Span<const storage::OpenOutcome> outcomes);
  LostRecords Check(absl::Span<const storage::ProducerBatch> batches, absl::Span<const storage::BatchOutcome> outcomes);

 private:
  // Returns the records of the log that are missing, and remembers those that are stored.
  uint64_t Update(const std::string& producer_id, uint64_t stored_seq);

  absl::flat_hash_map<std::string, uint64_t> acked_;
};

}  // namespace telemetry::writer
