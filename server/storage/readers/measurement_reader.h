#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/readers/config_reader.h"
#include "server/storage/sql/attempt_key.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage::readers {

// The size of a page: it ends after `rows` rows, or with the row that reaches `bytes` bytes.
struct PageEnd {
  int64_t rows = 0;
  size_t bytes = 0;
};

// The stages of a measurement, best first: final; search or unknown; screening (given up after a few samples).
enum class RowRank { kFinal, kSearch, kScreening };

// The best of a set of "ok" rows: the fastest final one, or else the fastest that was not given up.
struct BestRow {
  RowRank rank = RowRank::kScreening;
  double perf_ms = 0;

  bool IsBetterThan(const BestRow& other) const {
    return rank != other.rank ? rank < other.rank : perf_ms < other.perf_ms;
  }
};

// Statistics over the rows of one or more attempts.
struct RowStats {
  uint64_t measurements = 0;
  uint64_t configs = 0;  // distinct
  // The best row and the key of its config. Among equal rows, the one that was counted first.
  std::optional<BestRow> best;
  int64_t best_config = 0;
};

// Reads measurements and source hashes: the hot path of an export. Part of a reader: used by one thread, inside the
// caller's transaction.
class MeasurementReader {
 public:
  // `configs` must outlive this object.
  MeasurementReader(sql::Database& database, ConfigReader& configs);

  // Reads one page of rows above after_seq; with a non-empty `status`, only rows with that status. Returns whether more
  // rows follow. Leaves attempt_id empty. Appends configs not seen before to `announced`, unless it is null; they count
  // towards the page's bytes.
  absl::StatusOr<bool> ReadPage(const sql::AttemptKey& key, uint64_t after_seq, const PageEnd& end,
                                const std::string& status, google::protobuf::RepeatedPtrField<v1::Measurement>* rows,
                                v1::ExportConfigs* announced);

  // Reads the source hashes of these rows.
  absl::Status ReadHashes(const sql::AttemptKey& key, const google::protobuf::RepeatedPtrField<v1::Measurement>& rows,
                          google::protobuf::RepeatedPtrField<v1::SourceHash>* hashes);
  absl::StatusOr<bool> HasHashes(const sql::AttemptKey& key);

  absl::StatusOr<uint64_t> Count(const sql::AttemptKey& key);
  // Begins a new set of rows. Add() counts its distinct configs.
  RowStats NewStats() {
    counted_ = {};
    return {};
  }
  // Adds the attempt's rows to `stats`, and stores the best of these rows in `best`.
  absl::Status Add(const sql::AttemptKey& key, RowStats* stats, std::optional<BestRow>* best);

  void Forget() {
    statuses_ = {};
    status_bytes_ = 0;
    counted_ = {};
    ok_status_.reset();
  }

 private:
  using Rows = google::protobuf::RepeatedPtrField<v1::Measurement>;

  // Reads rows without their config_ids, until `end`, of which only failures count as bytes: only they are long.
  // Returns the keys of the rows' configs. Sets `is_last` if no row follows.
  absl::StatusOr<std::vector<int64_t>> ReadRows(const PageEnd& end, Rows* rows, bool* is_last);
  absl::Status Fill(v1::Measurement* row);
  // Sets the config_ids of the last rows, and adds the sizes of these rows to `bytes`. Drops the rows behind the one
  // that reaches `most_bytes`.
  absl::Status SetConfigs(absl::Span<const int64_t> configs, size_t most_bytes, Rows* rows,
                          v1::ExportConfigs* announced, size_t* bytes);
  // Returns the ranks of an attempt's final and screening rows, ordered by seq. All other rows have the rank kSearch.
  absl::StatusOr<std::vector<std::pair<uint64_t, RowRank>>> ReadRanks(const sql::AttemptKey& key);
  absl::StatusOr<int64_t> StatusKey(const std::string& name);
  absl::StatusOr<int64_t> OkStatusKey();
  absl::StatusOr<const std::string*> StatusName(int64_t status);

  ConfigReader& configs_;
  std::vector<std::string> statuses_;  // by key; empty: not cached
  size_t status_bytes_ = 0;
  std::optional<int64_t> ok_status_;      // the key of "ok"; nullopt: not cached
  absl::flat_hash_set<int64_t> counted_;  // the keys of the configs in the current set of rows

  sql::Statement read_page_;
  sql::Statement read_hashes_;
  sql::Statement has_hashes_;
  sql::Statement count_;
  sql::Statement read_stats_;
  sql::Statement read_ranks_;
  sql::Statement status_key_;
  sql::Statement status_name_;
};

}  // namespace telemetry::storage::readers
