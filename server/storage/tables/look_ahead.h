#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/storage/tables/config_table.h"
#include "server/storage/tables/detail_table.h"
#include "server/storage/tables/measurement_table.h"
#include "server/storage/tables/run_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Tells the tables beforehand, in few statements, what they would ask the database for record by record: for a database
// where each statement is a journey. What it does not tell, they ask. Part of the writer: one thread, inside its
// transaction.
class LookAhead {
 public:
  virtual ~LookAhead() = default;

  struct Entry {
    const v1::Record* record = nullptr;
    int64_t sender = 0;  // as CurrentSender::key
  };

  // `records` are valid, and the transaction is going to store them in this order. Runs and configs that are new are
  // made where their records are never refused.
  virtual absl::Status LookAt(absl::Span<const Entry> records, RunTable& runs, ConfigTable& configs) = 0;
  // The same of the rows that belong to attempts: those that are stored already.
  virtual absl::Status LookAtRows(absl::Span<const Entry> records, MeasurementTable& measurements,
                                  DetailTable& details) = 0;
  // Returns true if the last look made the run or the config that the record describes; once for each.
  virtual bool TakeMade(const Entry& entry) = 0;
};

}  // namespace telemetry::storage
