#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "proto/record/sidecar_row.h"

namespace telemetry::forward {

// Tells apart the attempts whose rows stand mixed in one CSV file: several processes append to one file, and later ones
// go on where earlier ones ended. No row names its attempt, so it is inferred, row by row, from what the rows of one
// process have in common:
//   - time does not run backwards;
//   - config_index (dialects that have it) counts up from 1;
//   - a "started" row is followed by the same config's result before the next one starts;
//   - a config starts once in a generation.
// A row goes to the attempt that fits best, else it begins a new one. Only earlier rows matter, so a file that has
// grown splits as it did before. Where the inference is wrong an attempt is cut in two or two are joined: no row is
// lost. Not thread-safe.
class AttemptSplitter {
 public:
  struct Placement {
    size_t attempt = 0;  // numbered from 0 in the order in which attempts begin in the file
    uint64_t seq = 0;    // the row's config_index, else its position in the attempt from 1
    bool begins = false;
  };

  // The row must have its run_id and config_id.
  Placement Place(const record::SidecarRow& row);

 private:
  struct Attempt {
    size_t number = 0;
    double last_timestamp_s = 0;
    uint64_t last_seq = 0;
    int64_t last_generation = 0;
    std::vector<std::pair<uint64_t, std::optional<double>>> running;  // configs started, no result yet; compile time
    absl::flat_hash_set<std::pair<int64_t, uint64_t>> started;        // (generation, config)
  };

  // How well a row continues an attempt, best first; nullopt: it cannot.
  using Fit = std::vector<double>;
  static std::optional<Fit> FitOf(const Attempt& attempt, const record::SidecarRow& row);
  static void Advance(const record::SidecarRow& row, uint64_t seq, Attempt* attempt);

  size_t attempts_ = 0;
  absl::flat_hash_map<std::string, std::vector<Attempt>> by_run_;
};

}  // namespace telemetry::forward
