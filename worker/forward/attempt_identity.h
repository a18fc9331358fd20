#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/sidecar_row.h"

namespace telemetry::forward {

// The attempt_id of an attempt that was read from a sidecar. It is computed from content, so that the same rows give
// the same id from any folder and any machine, whoever forwards them and however often:
//
//     link 0 = sha256("autotune-telemetry attempt 1" \0 origin \0 run_id \0 occurrence)
//     link n = sha256(link n-1, n-th row as a helion CSV line without its config text)
//     attempt_id = the first 16 bytes of the link at which the chain closes
//
// The chain closes at the first row with a perf_ms, or at row kMaxLinks: times in 10 ms steps alone are often equal
// between attempts (two killed jobs may leave the same single row), a measured value hardly ever. Until it closes the
// attempt is provisional: its id is the last link, and the next row gives it another id, which supersedes the earlier
// ones.
//
// `occurrence` counts the attempts before it in the same file whose first row is equal, so that equal attempts of one
// file stay two. `origin` keeps two CI jobs apart.
//
// Limits: two attempts of one run and one origin in different files are taken for one while one's rows are the
// beginning of the other's and hold no measured value; a file that lost its first rows (rotated by copying and
// truncating) gives new attempts.
class AttemptIdentity {
 public:
  static constexpr size_t kMaxLinks = 16;

  AttemptIdentity(std::string_view origin, std::string_view run_id, uint64_t occurrence);

  // The attempt's next row; ignored once the chain is closed.
  void Add(const record::SidecarRow& row);

  bool closed() const { return closed_; }
  // 16 bytes. At least one row must have been added.
  std::string attempt_id() const;
  // The ids that the attempt had before, in order.
  std::vector<std::string> superseded_ids() const;

 private:
  std::vector<std::string> links_;  // 32 bytes each; links_[0] is the seed
  bool closed_ = false;
};

// The row as it enters the chain; also what makes two rows equal.
std::string RowFingerprint(const record::SidecarRow& row);

}  // namespace telemetry::forward
