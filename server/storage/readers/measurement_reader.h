#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/readers/config_reader.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// The size of a page: it ends after so many rows, or with the row that reaches so many bytes.
struct PageEnd {
  int64_t rows = 0;
  size_t bytes = 0;
};

// The stages of a measurement, the best first: the final; the search, or not known; given up after a few samples.
enum class RowRank { kFinal, kSearch, kScreening };

// The best of some "ok" rows: the fastest final one, else the fastest that was not given up.
struct BestRow {
  RowRank rank = RowRank::kScreening;
  double perf_ms = 0;

  bool IsBetterThan(const BestRow& other) const {
    return rank != other.rank ? rank < other.rank : perf_ms < other.perf_ms;
  }
};

// What the rows of an attempt, or of several, come to.
struct RowStats {
  uint64_t measurements = 0;
  uint64_t configs = 0;  // distinct
  // The best row, and its config's key; of equals the row that was counted first.
  std::optional<BestRow> best;
  int64_t best_config = 0;
};

// Reads measurements and source hashes: the hot path of an export. Part of a reader: one thread, inside the caller's
// transaction.
class MeasurementReader {
 public:
  // `configs` must outlive this.
  MeasurementReader(Database& database, ConfigReader& configs);

  // Reads the rows of one page above after_seq, only those with `status` unless that is empty; returns whether more
  // follow. attempt_id is left empty. Configs not seen before go to `announced`, unless that is null, and count as the
  // page's bytes.
  absl::StatusOr<bool> ReadPage(const AttemptKey& key, uint64_t after_seq, const PageEnd& end,
                                const std::string& status, google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                                v1::ExportConfigs* announced);

  // The hashes of those rows.
  absl::Status ReadHashes(const AttemptKey& key, const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                          google::protobuf::RepeatedPtrField<v1::SourceHash>* hashes);
  absl::StatusOr<bool> HasHashes(const AttemptKey& key);

  absl::StatusOr<uint64_t> Count(const AttemptKey& key);
  // Begins a new set of rows for Add to count distinct configs over.
  RowStats NewStats() { return ++stats_round_, RowStats(); }
  // Counts the attempt's rows into `stats`, and the best of them alone into `best`.
  absl::Status Add(const AttemptKey& key, RowStats* stats, std::optional<BestRow>* best);

  void Forget() {
    statuses_ = {};
    status_bytes_ = 0;
    counted_in_ = {};
  }

 private:
  absl::Status Fill(v1::Measurement* row, v1::ExportConfigs* announced);
  // Reads the ranks of an attempt's rows of which more is known, in the order of seq.
  absl::StatusOr<std::vector<std::pair<uint64_t, RowRank>>> ReadRanks(const AttemptKey& key);
  absl::StatusOr<int64_t> StatusKey(const std::string& name);
  absl::StatusOr<const std::string*> StatusName(int64_t status);

  ConfigReader& configs_;
  std::vector<std::string> statuses_;  // by key; empty: not known
  size_t status_bytes_ = 0;
  uint32_t stats_round_ = 0;
  std::vector<uint32_t> counted_in_;  // by config key: the round in which it was counted last

  Statement read_page_;
  Statement read_hashes_;
  Statement has_hashes_;
  Statement count_;
  Statement read_stats_;
  Statement read_ranks_;
  Statement status_key_;
  Statement status_name_;
};

}  // namespace telemetry::storage
