#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/storage/store.h"

namespace telemetry::storage::postgresql {

// Options of OpenPostgresqlWriter().
struct PgWriterOptions {
  // The time for which the writer repeats a transaction while other transactions are in its way or the server cannot be
  // reached. After that it returns an error.
  absl::Duration patience = absl::Seconds(5);
  std::function<absl::Time()> clock = absl::Now;
};

// Opens a writer of the dataset in a PostgreSQL database. Creates or migrates the schema. Any number of writers may be
// open at the same time, in any number of collectors. `url` is postgresql://...; parameters that it omits come from
// libpq's usual sources.
//
// Unlike the SQLite writer, this one continues after most errors (GoesOnAfter). UNAVAILABLE, ABORTED,
// PERMISSION_DENIED, NOT_FOUND: the batches may or may not be stored, and a later call finds out by the producer's
// committed_seq. INTERNAL, DATA_LOSS: the process must end.
// Errors of opening: FAILED_PRECONDITION if the database is newer than this program, is not a dataset, or is not
// encoded in UTF-8; NOT_FOUND or PERMISSION_DENIED for the database or the user; UNAVAILABLE for the server.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenPostgresqlWriter(const std::string& url,
                                                                  const PgWriterOptions& options = {});

// Opens a reader; a standby is sufficient. Returns FAILED_PRECONDITION if the database is newer or older than this
// program, or is not a dataset; other errors as above. A call whose connection was lost returns UNAVAILABLE, and the
// next call connects again.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenPostgresqlReader(const std::string& url);

}  // namespace telemetry::storage::postgresql
