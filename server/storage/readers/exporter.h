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

namespace telemetry::storage {

// INVALID_ARGUMENT: a filter with a value that it cannot have.
absl::Status CheckFilter(const v1::Filter& filter);

// One export: a walk over the selected runs and attempts, item by item. Between two items it holds no transaction and
// no connection, so each may be read over another one to the same dataset. Of one thread at a time.
class Exporter {
 public:
  explicit Exporter(v1::ExportRequest request);

  using Step = ExportStep;
  bool has_begun() const { return connections_lost_.has_value(); }
  // Reads on to the next item. An item has at most twice kPageBytes (exporter.cc) and one row more, or is one run,
  // attempt or IR graph. ABORTED: an attempt was superseded or removed while its rows were read. UNAVAILABLE: a
  // connection was lost since the first step, and earlier items may be out of date. Others are the database's. No step
  // may follow an error.
  absl::StatusOr<Step> Next(Database& database, DatasetReader& reader);

 private:
  // What stands beside an attempt's rows.
  struct RowParts {
    bool hashes = false;
    bool details = false;
  };
  // Ends the step; alone, lets others have the connection.
  struct EndStep {
    Exporter* exporter;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> walk) const noexcept { exporter->resume_ = walk; }
    void await_resume() const noexcept {}
  };
  // Ends the step with this item. The walk keeps nothing of it: very many exports may wait for their clients.
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
  Walk SendFilterValues();
  // The announced configs, if there are any.
  Walk FlushConfigs();

  // Returns a serialised ExportItem.
  absl::StatusOr<std::string> ReadIrGraph(const StoredRun& run, const std::string& kind);
  // Reads run configs from `begin` on into `page`, and their configs that were not announced yet into configs_; returns
  // where the next page begins.
  absl::StatusOr<size_t> ReadRunConfigs(const StoredRun& run, const std::vector<std::pair<uint64_t, int64_t>>& keys,
                                        size_t begin, v1::ExportRunConfigs* page);
  absl::Status ReadAttempt(const StoredAttempt& attempt, v1::AttemptSummary* summary);
  absl::StatusOr<RowParts> FindParts(const StoredAttempt& attempt);
  // Reads one page of rows into rows_, and its configs that were not announced yet into configs_. Returns false if that
  // was the last page.
  absl::StatusOr<bool> ReadRows(const AttemptKey& attempt, uint64_t after_seq, RowParts parts);
  absl::Status CheckStillThere(const StoredAttempt& attempt);

  // Only their keys, ids and senders, since a run may have more than a megabyte.
  absl::StatusOr<std::vector<StoredRun>> NextRuns(const RunPlace& after);
  // For the totals: adds the attempts of a run that the filter selects.
  absl::Status AddTotals(const StoredRun& run, v1::ExportTotals* totals);
  absl::StatusOr<std::vector<StoredAttempt>> SelectAttempts(const StoredRun& run);
  // For the export: reads the run, all of its attempts and its summary in one pass over the rows, then selects.
  absl::StatusOr<v1::RunSummary> Summarise(const StoredRun& run, std::vector<StoredAttempt>* selected);

  const v1::Filter filter_;
  const bool with_details_;
  ConfigReader::Seen seen_;
  std::optional<uint64_t> connections_lost_;  // unset: before the first step
  // Of the step under way.
  Database* database_ = nullptr;
  DatasetReader* reader_ = nullptr;
  Step step_;
  bool has_sent_rows_ = false;
  v1::ExportItem rows_;
  v1::ExportItem configs_;
  std::coroutine_handle<> resume_;
  Walk walk_;  // last: it uses all of the above
};

}  // namespace telemetry::storage
