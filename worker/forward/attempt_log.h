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

namespace telemetry::worker::forward {

// Receives one record. An error ends the forwarding.
using RecordSink = std::function<absl::Status(const v1::Record&)>;

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

  // Emits the rows held so far. Rows that follow supersede them.
  absl::Status Settle();

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
    Attempt(std::string_view origin, std::string_view run_id) : identity(origin, run_id) {}
    record::sidecar::Dialect dialect{};
    AttemptIdentity identity;
    std::vector<HeldRow> held;  // all rows so far, while the chain is open
    bool settled = false;       // every held row has been emitted
  };

  absl::Status Announce(const Attempt& attempt, const std::string& run_id);
  absl::Status HandOver(const Attempt& attempt, uint64_t seq, const record::sidecar::Row& row);
  absl::Status HandOverHash(const Attempt& attempt, uint64_t seq, const std::string& source_hash);
  absl::Status HandOverHeld(Attempt* attempt);

  std::string origin_;
  RecordSink sink_;
  AttemptSplitter splitter_;
  std::deque<Attempt> attempts_;  // indexed by the splitter's number
  AttemptIdentity::Occurrences occurrences_;
  std::vector<size_t> open_;  // numbers of the attempts with an open chain
  bool track_sources_ = false;
  absl::flat_hash_map<std::string, std::deque<PlacedRow>> without_hash_;  // rows without a hash, by SourceKey()
  uint64_t rows_ = 0;
};

}  // namespace telemetry::worker::forward
