#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::worker::forward {

// The attempt_id of an attempt that was read from a sidecar. The id is computed from content, so that the same rows
// have the same id in any folder and on any machine, no matter who forwards them and how often:
//
//     link 0 = sha256("autotune-telemetry attempt 1" \0 origin \0 run_id)
//     link n = sha256(link n-1, n-th row as a helion CSV line without its config text)
//     attempt_id = the first 16 bytes of sha256(link \0 occurrence), of the link at which the chain closes
//
// The chain closes at the kMeasuredRows-th row with a perf_ms, or at row kMaxLinks. Measured values are required
// because times in steps of 10 ms are often equal between attempts (two killed jobs may leave the same single row),
// while measured values almost never are. Until the chain closes, the attempt is provisional: its id is that of the
// last link. The next row gives the attempt another id, which supersedes the earlier ones.
//
// `occurrence` counts the attempts of the same file that reached the same link before, so that equal attempts of one
// file stay separate. Joining files does not change it unless the files contain equal attempts. `origin` separates two
// CI jobs.
//
// Limits, all for attempts of one run and one origin in different files: two attempts are treated as one while the rows
// of one are the beginning of the other's and its chain is open. Two attempts that differ only after the row at which
// the chain closes get one id, and the differing rows are refused as conflicts (kept as rejects, never lost silently).
// A file that lost its first rows (rotated by copying and truncating) yields new attempts.
class AttemptIdentity {
 public:
  static constexpr size_t kMaxLinks = 32;
  static constexpr size_t kMeasuredRows = 2;

  AttemptIdentity(std::string_view origin, std::string_view run_id);

  // The number of a file's attempts that have reached each link.
  using Occurrences = absl::flat_hash_map<std::string, uint64_t>;

  // Adds the attempt's next row. The row is ignored once the chain is closed.
  void Add(const record::sidecar::Row& row, Occurrences* occurrences);

  bool closed() const { return closed_; }
  // Returns the current id, 16 bytes. At least one row must have been added.
  const std::string& attempt_id() const { return ids_.back(); }
  // Returns the earlier ids of the attempt, in order.
  std::vector<std::string> superseded_ids() const;

 private:
  std::string link_;
  std::vector<std::string> ids_;  // one for each row so far
  size_t measured_rows_ = 0;
  bool closed_ = false;
};

// Returns the form in which the row enters the chain. Rows with equal fingerprints are equal.
std::string RowFingerprint(const record::sidecar::Row& row);

}  // namespace telemetry::worker::forward
