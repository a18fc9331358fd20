#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/attempt_key.h"
#include "server/storage/database.h"
#include "server/storage/dataset_reader.h"
#include "server/storage/store.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// INVALID_ARGUMENT: a filter with a value that it cannot have.
absl::Status CheckFilter(const v1::Filter& filter);

// One export: walks over the selected runs and attempts and hands them to the sink, page by page. Each page is one read
// transaction, and none is open while the sink works. ABORTED: an attempt was superseded or removed while its rows were
// read.
class Exporter {
 public:
  // `database` and what `sink` refers to must outlive this.
  Exporter(Database& database, const v1::ExportRequest& request, const StoreReader::Sink& sink);

  absl::Status Run();

 private:
  // What stands beside an attempt's rows.
  struct RowParts {
    bool hashes = false;
    bool details = false;
  };

  absl::Status SendTotals();
  absl::Status SendRun(const StoredRun& run);
  absl::Status SendIrGraphs(const StoredRun& run, const v1::RunSummary& summary);
  absl::Status SendRunConfigs(const StoredRun& run);
  absl::Status SendAttempt(const StoredAttempt& attempt);
  absl::Status SendRows(const StoredAttempt& attempt);
  absl::StatusOr<RowParts> FindParts(const StoredAttempt& attempt);
  // Reads one page of rows into rows_, and what it announces into configs_.
  absl::Status ReadRows(const AttemptKey& attempt, uint64_t after_seq, RowParts parts);
  absl::Status CheckStillThere(const StoredAttempt& attempt);

  absl::StatusOr<std::vector<StoredRun>> NextRuns(const RunPlace& after);
  // For the totals: the attempts that the filter selects.
  absl::StatusOr<std::vector<StoredAttempt>> SelectAttempts(const StoredRun& run);
  // For the export: reads all of the run's attempts and its summary in one pass over the rows, then selects.
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run, std::vector<StoredAttempt>* selected);
  // The announced configs, if there are any.
  absl::Status FlushConfigs();

  Database& database_;
  const v1::Filter filter_;
  const bool with_details_;
  const StoreReader::Sink& sink_;
  DatasetReader reader_;
  // Kept from page to page, so that their memory is used again.
  v1::ExportItem rows_;
  v1::ExportItem configs_;
};

}  // namespace telemetry::storage
