#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::worker::forward {

// Assigns the rows of one CSV file to attempts. Several processes may append to one file at the same time, and later
// processes continue the file of earlier ones. A row does not name its attempt, so the splitter infers it, row by row,
// from the properties that the rows of one process share:
//   - time does not run backwards;
//   - config_index (in dialects that have it) counts up from 1;
//   - a "started" row is followed by the same config's result before the next config starts;
//   - a config starts once in a generation.
// A row joins the attempt that fits best, or else begins a new one. Only earlier rows affect the result, so a file that
// has grown is split in the same way as before. A wrong inference splits one attempt or joins two, but never loses a
// row. Not thread-safe.
class AttemptSplitter {
 public:
  // The attempt of a row and the row's position in it.
  struct Placement {
    size_t attempt = 0;   // number of the attempt, from 0 in the order of first rows
    uint64_t seq = 0;     // the row's config_index, or else its position in the attempt, from 1
    bool begins = false;  // the row is the attempt's first
  };

  // Assigns the next row of the file. Its run_id and config_id must be set.
  Placement Place(const record::sidecar::Row& row);

 private:
  // The state of an attempt after its last row.
  struct Attempt {
    size_t number = 0;
    double last_timestamp_s = 0;
    uint64_t last_seq = 0;
    int64_t last_generation = 0;
    std::vector<std::pair<uint64_t, std::optional<double>>> running;  // configs without result; compile time
    absl::flat_hash_set<std::pair<int64_t, uint64_t>> started;        // pairs of generation and config
  };

  // The criteria by which a row continues an attempt, the most important one first; larger is better. Unset: the row
  // cannot continue the attempt.
  using Fit = std::vector<double>;
  static std::optional<Fit> ComputeFit(const Attempt& attempt, const record::sidecar::Row& row);
  static void Advance(const record::sidecar::Row& row, uint64_t seq, Attempt* attempt);

  size_t attempts_ = 0;
  absl::flat_hash_map<std::string, std::vector<Attempt>> by_run_;
};

}  // namespace telemetry::worker::forward
