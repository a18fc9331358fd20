#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/storage/tables/config_table.h"
#include "server/storage/tables/detail_table.h"
#include "server/storage/tables/event_table.h"
#include "server/storage/tables/measurement_table.h"
#include "server/storage/tables/run_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// Fills the caches of the tables with few statements before the records are stored, for a database where each statement
// costs a round trip. The tables query the database for any entry that the prefetch did not supply. Part of the
// writer: used by one thread, inside the writer's transaction.
class Prefetcher {
 public:
  virtual ~Prefetcher() = default;

  struct Entry {
    const v1::Record* record = nullptr;
    int64_t sender = 0;  // CurrentSender::key
  };

  // Looks up the runs and configs of `records`, which are valid and which the transaction will store in this order.
  // Creates new runs and configs whose records can never be refused.
  virtual absl::Status PrefetchKeys(absl::Span<const Entry> records, RunTable& runs, ConfigTable& configs) = 0;
  // Looks up the rows of attempts that are already stored.
  virtual absl::Status PrefetchRows(absl::Span<const Entry> records, MeasurementTable& measurements,
                                    DetailTable& details, EventTable& events) = 0;
  // Returns true if the last prefetch created the run or the config that the record describes. Returns true at most
  // once for each.
  virtual bool TakeMade(const Entry& entry) = 0;
};

}  // namespace telemetry::storage::tables
