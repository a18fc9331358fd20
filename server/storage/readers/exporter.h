#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/export_step.h"
#include "server/storage/readers/dataset_reader.h"
#include "server/storage/readers/walk.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/database.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// Returns INVALID_ARGUMENT if a field of the filter has an impossible value.
absl::Status CheckFilter(const v1::Filter& filter);

// An export: a traversal of the selected runs and attempts, item by item. It holds no transaction and no connection
// between two items, so each item may be read over another connection to the same dataset. Used by one thread at a
// time.
class Exporter {
 public:
  explicit Exporter(v1::ExportRequest request);

  bool has_begun() const { return connections_lost_.has_value(); }
  // Reads up to the next item. An item is at most twice kPageBytes (exporter.cc) plus one row, or it is one run,
  // attempt or IR graph. Returns ABORTED if an attempt was superseded or removed while its rows were read, UNAVAILABLE
  // if a connection was lost since the first step, so that earlier items may be out of date, and errors of the
  // database. After an error, no further step is allowed.
  absl::StatusOr<ExportStep> Next(sql::Database& database, DatasetReader& reader);

 private:
  // The kinds of rows that an attempt has beside its measurements.
  struct RowParts {
    bool hashes = false;
    bool details = false;
  };
  // Ends the step. Without an item, it only lets other exports use the connection.
  struct EndStep {
    Exporter* exporter;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> walk) const noexcept { exporter->resume_ = walk; }
    void await_resume() const noexcept {}
  };
  // Ends the step with this item. The coroutine keeps no part of the item, since very many exports may wait for their
  // clients.
  EndStep Emit(v1::ExportItem&& item) {
    step_.item = std::move(item);
    return {this};
  }

  Walk Run();
  Walk SendTotals();
  Walk SendRun(const StoredRun& run);
  Walk SendIrGraphs(const StoredRun& run, const std::vector<std::string>& kinds);
  Walk SendRunConfigs(const StoredRun& run);
  Walk SendAttempt(const StoredAttempt& attempt);
  Walk SendRows(const StoredAttempt& attempt);
  Walk SendEvents(const StoredAttempt& attempt);
  Walk SendFilterValues();
  // Emits the configs that are due to be announced, if there are any.
  Walk FlushConfigs();

  // Returns a serialised ExportItem.
  absl::StatusOr<std::string> ReadIrGraph(const StoredRun& run, const std::string& kind);
  // Reads run configs from index `begin` on into `page`, and their configs that were not announced yet into configs_.
  // Uses and removes the rows of the list, if it has any. Returns the index where the next page begins.
  absl::StatusOr<size_t> ReadRunConfigs(const StoredRun& run, size_t begin, RunConfigList* list,
                                        v1::ExportRunConfigs* page);
  // Adds a config to the announced ones, unless it was announced before. Returns the bytes added.
  absl::StatusOr<size_t> Announce(int64_t config);
  absl::Status ReadAttempt(const StoredAttempt& attempt, v1::AttemptSummary* summary);
  absl::StatusOr<RowParts> FindParts(const StoredAttempt& attempt);
  // Reads one page of rows into rows_, and their configs that were not announced yet into configs_. Returns false if
  // that was the last page.
  absl::StatusOr<bool> ReadRows(const sql::AttemptKey& attempt, uint64_t after_seq, RowParts parts);
  // Reads one page of events, without a transaction: events never change, and ReadAgain() finds that they were removed.
  // Returns false if that was the last page.
  absl::StatusOr<bool> ReadEvents(const sql::AttemptKey& attempt, uint64_t after_seq, v1::ExportEvents* page);
  // Returns ABORTED if the attempt was removed or superseded since it was read.
  absl::StatusOr<StoredAttempt> ReadAgain(const StoredAttempt& attempt);

  // Returns only keys, ids and senders, since a run may be larger than a megabyte.
  absl::StatusOr<std::vector<StoredRun>> NextRuns(const RunPlace& after);
  // Adds the attempts of a run that the filter selects to the totals.
  absl::Status AddTotals(const StoredRun& run, v1::ExportTotals* totals);
  absl::StatusOr<std::vector<StoredAttempt>> SelectAttempts(const StoredRun& run);
  // Reads the run, all of its attempts and its summary in one pass over the rows, then selects the attempts to export.
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run, std::vector<StoredAttempt>* selected);

  const v1::Filter filter_;
  const bool with_details_;
  const bool with_events_;
  ConfigReader::Seen seen_;
  std::optional<uint64_t> connections_lost_;  // unset: before the first step
  // State of the current step.
  sql::Database* database_ = nullptr;
  DatasetReader* reader_ = nullptr;
  ExportStep step_;
  bool has_sent_any_ = false;  // a row or an event
  v1::ExportItem rows_;
  v1::ExportItem configs_;
  std::coroutine_handle<> resume_;
  Walk walk_;  // must be the last member: it uses all of the above
};

}  // namespace telemetry::storage::readers
