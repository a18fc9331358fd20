#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/sidecar/row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_identity.h"
#include "worker/forward/attempt_splitter.h"
#include "worker/forward/row_index.h"

namespace telemetry::worker::forward {

// Receives one record. An error ends the forwarding.
using RecordSink = std::function<absl::Status(const v1::Record&)>;

// The parts of an attempt that a trace contains.
struct AttemptDescription {
  std::string superseded_id;  // id of the attempt that the trace was stored as without its rows; 16 bytes
  std::optional<int64_t> started_unix_us;
  std::string search_algorithm;  // empty: not known
  v1::Attempt::State state = v1::Attempt::STATE_UNSPECIFIED;

  // Sets the fields of an attempt, except for the superseded id.
  void SetFields(v1::Attempt* attempt) const;
};

// A converter from the rows of one CSV file, in file order, to attempts and measurements. Rows of an attempt whose
// chain is open are held until Settle(), which emits them under a provisional id. Not thread-safe.
class AttemptLog {
 public:
  AttemptLog(std::string origin, RecordSink sink) : origin_(std::move(origin)), sink_(std::move(sink)) {}

  // Adds a row that was read from a file of `dialect`. Its run_id and config_id must be set.
  absl::Status Add(record::sidecar::Dialect dialect, const record::sidecar::Row& row);

  // Adds a row of .sources.csv: assigns its hash to the first row with the same time, config, generation and status
  // that has no hash. Returns false if there is no such row yet. Requires TrackSources().
  absl::StatusOr<bool> AddSourceHash(const record::sidecar::Row& source_row);
  // Keeps the rows that AddSourceHash() needs. Must be called before the first row.
  void TrackSources() { track_sources_ = true; }

  // Adds each row to `index`, which must outlive this object. Must be called before the first row.
  void TrackRows(RowIndex* index) { index_ = index; }
  // Emits a measurement, a detail or an event of an attempt, whose number is that of RowIndex::Place. Sets the record's
  // attempt_id. If the attempt's chain is open, holds the record and emits it with the rows.
  absl::Status Emit(size_t attempt, v1::Record record);
  // Sets the parts of an attempt that its rows do not contain, and emits the attempt or holds it with its rows. A later
  // call replaces the parts.
  absl::Status Describe(size_t attempt, AttemptDescription description);
  // Returns the approximate memory of the records of Emit() that are held.
  size_t held_bytes() const { return held_bytes_; }

  // Emits the rows and records held so far. Rows that follow supersede them.
  absl::Status Settle();
  // Does the same for complete files: Emit() holds nothing from now on. A row that would give an attempt another id is
  // an error from now on: Add() returns ABORTED.
  absl::Status SettleFinally();

  uint64_t rows() const { return rows_; }
  uint64_t attempts() const { return attempts_.size(); }

 private:
  // A row of an attempt whose chain is open.
  struct HeldRow {
    uint64_t seq;
    record::sidecar::Row row;
  };
  // The position of a row: number of its attempt, and seq.
  struct PlacedRow {
    size_t attempt;
    uint64_t seq;
  };
  // An attempt and its held rows.
  struct Attempt {
    Attempt(std::string_view origin, std::string_view run) : run_id(run), identity(origin, run) {}
    std::string run_id;
    record::sidecar::Dialect dialect{};
    AttemptIdentity identity;
    std::optional<AttemptDescription> description;
    std::vector<HeldRow> held;             // all rows so far, while the chain is open
    std::vector<v1::Record> held_records;  // all records of Emit() so far, while the chain is open
    bool settled = false;                  // everything held has been emitted
  };

  absl::Status Announce(const Attempt& attempt);
  absl::Status HandOver(const Attempt& attempt, uint64_t seq, const record::sidecar::Row& row);
  absl::Status HandOverHash(const Attempt& attempt, uint64_t seq, const std::string& source_hash);
  absl::Status HandOverRecord(const Attempt& attempt, v1::Record* record);
  absl::Status HandOverHeld(Attempt* attempt);
  void ReleaseRecords(Attempt* attempt);

  std::string origin_;
  RecordSink sink_;
  AttemptSplitter splitter_;
  std::deque<Attempt> attempts_;  // indexed by the splitter's number
  AttemptIdentity::Occurrences occurrences_;
  std::vector<size_t> open_;   // numbers of the attempts with an open chain
  RowIndex* index_ = nullptr;  // nullptr: none
  size_t held_bytes_ = 0;
  bool settled_finally_ = false;
  bool track_sources_ = false;
  absl::flat_hash_map<std::string, std::deque<PlacedRow>> without_hash_;  // rows without a hash, by SourceKey()
  uint64_t rows_ = 0;
};

}  // namespace telemetry::worker::forward
