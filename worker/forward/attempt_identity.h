#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/record/sidecar_row.h"

namespace telemetry::forward {

// The attempt_id of an attempt that was read from a sidecar. It is computed from content, so that the same rows give
// the same id from any folder and any machine, whoever forwards them and however often:
//
//     link 0 = sha256("autotune-telemetry attempt 1" \0 origin \0 run_id)
//     link n = sha256(link n-1, n-th row as a helion CSV line without its config text)
//     attempt_id = the first 16 bytes of sha256(link \0 occurrence), of the link at which the chain closes
//
// The chain closes at the kMeasuredRows-th row with a perf_ms, or at row kMaxLinks: times in 10 ms steps alone are
// often equal between attempts (two killed jobs may leave the same single row), measured values hardly ever. Until it
// closes the attempt is provisional: its id is that of the last link, and the next row gives it another id, which
// supersedes the earlier ones.
//
// `occurrence` counts the attempts of the same file that reached the same link before, so that equal attempts of one
// file stay two; it does not change when files are joined, unless they hold equal attempts. `origin` keeps two CI jobs
// apart.
//
// Limits, all for attempts of one run and one origin in different files: two are taken for one while one's rows are the
// beginning of the other's and its chain is open; two that differ only behind the place where the chain closes get one
// id, and what differs is refused as a conflict (kept as a reject, never lost in silence). A file that lost its first
// rows (rotated by copying and truncating) gives new attempts.
class AttemptIdentity {
 public:
  static constexpr size_t kMaxLinks = 32;
  static constexpr size_t kMeasuredRows = 2;

  AttemptIdentity(std::string_view origin, std::string_view run_id);

  // How many attempts of a file have reached a link.
  using Occurrences = absl::flat_hash_map<std::string, uint64_t>;

  // The attempt's next row; ignored once the chain is closed.
  void Add(const record::SidecarRow& row, Occurrences* occurrences);

  bool closed() const { return closed_; }
  // 16 bytes. At least one row must have been added.
  const std::string& attempt_id() const { return ids_.back(); }
  // The ids that the attempt had before, in order.
  std::vector<std::string> superseded_ids() const;

 private:
  std::string link_;
  std::vector<std::string> ids_;  // of each row so far
  size_t measured_rows_ = 0;
  bool closed_ = false;
};

// The row as it enters the chain; also what makes two rows equal.
std::string RowFingerprint(const record::SidecarRow& row);

}  // namespace telemetry::forward
