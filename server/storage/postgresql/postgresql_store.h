#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/storage/store.h"

namespace telemetry::storage {

struct PgWriterOptions {
  // How long a transaction is done again while others are in its way or the server is away, before its caller is told.
  absl::Duration patience = absl::Seconds(5);
  std::function<absl::Time()> clock = absl::Now;
};

// A writer of the dataset in a PostgreSQL database, whose schema is made or brought up to date; any number of them may
// be open, in any number of collectors. `url`: postgresql://..., and libpq's usual places for what it leaves open.
//
// Unlike the one over SQLite it goes on after most errors (GoesOnAfter): UNAVAILABLE, ABORTED, PERMISSION_DENIED,
// NOT_FOUND: what was sent may or may not be stored, and a later call finds out by the producer's committed_seq.
// INTERNAL, DATA_LOSS: end the process. Opening: FAILED_PRECONDITION: the database is newer than this program, none of
// ours, or not in UTF-8. NOT_FOUND, PERMISSION_DENIED: the database, the user. UNAVAILABLE: the server.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenPostgresqlWriter(const std::string& url,
                                                                  const PgWriterOptions& options = {});

// A reader, of a standby too. FAILED_PRECONDITION: newer or older than this program, or no dataset. Else as above; a
// call whose connection was lost says UNAVAILABLE, and the next one connects again.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenPostgresqlReader(const std::string& url);

}  // namespace telemetry::storage
