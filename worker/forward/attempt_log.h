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
#include "proto/record/sidecar_row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_identity.h"
#include "worker/forward/attempt_splitter.h"

namespace telemetry::forward {

// Takes one record; an error ends the forwarding.
using RecordSink = std::function<absl::Status(const v1::Record&)>;

// Turns the rows of one CSV file, in their order, into attempts and their measurements. Rows of an attempt whose
// identity is not settled yet are held back until Settle, which hands them over under a provisional id. Not
// thread-safe.
class AttemptLog {
 public:
  AttemptLog(std::string origin, RecordSink sink) : origin_(std::move(origin)), sink_(std::move(sink)) {}

  // A row with its run_id and config_id, as read from a file of that dialect.
  absl::Status Add(record::Dialect dialect, const record::SidecarRow& row);

  // A row of .sources.csv: gives its hash to the first row of that time, config, generation and status that has none.
  // False: there is no such row (yet). Only while TrackSources is on.
  absl::StatusOr<bool> AddSourceHash(const record::SidecarRow& source_row);
  // Remembers rows for AddSourceHash; to be called before the first row.
  void TrackSources() { track_sources_ = true; }

  // Hands over what is held back. More rows may follow: they supersede what was handed over here.
  absl::Status Settle();

  uint64_t rows() const { return rows_; }
  uint64_t attempts() const { return attempts_.size(); }

 private:
  struct HeldRow {
    uint64_t seq;
    record::SidecarRow row;
  };
  struct PlacedRow {
    size_t attempt;
    uint64_t seq;
  };
  struct Attempt {
    Attempt(std::string_view origin, std::string_view run_id) : identity(origin, run_id) {}
    record::Dialect dialect{};
    AttemptIdentity identity;
    std::vector<HeldRow> held;  // while the identity is open: all rows so far
    bool settled = false;       // nothing is held that was not handed over
  };

  absl::Status Announce(const Attempt& attempt, const std::string& run_id);
  absl::Status HandOver(const Attempt& attempt, uint64_t seq, const record::SidecarRow& row);
  absl::Status HandOverHash(const Attempt& attempt, uint64_t seq, const std::string& source_hash);
  absl::Status HandOverHeld(Attempt* attempt);

  std::string origin_;
  RecordSink sink_;
  AttemptSplitter splitter_;
  std::deque<Attempt> attempts_;  // by the splitter's number
  AttemptIdentity::Occurrences occurrences_;
  std::vector<size_t> open_;  // numbers of attempts with an open identity
  bool track_sources_ = false;
  absl::flat_hash_map<std::string, std::deque<PlacedRow>> without_hash_;  // by what a .sources.csv row says of its row
  uint64_t rows_ = 0;
};

}  // namespace telemetry::forward
