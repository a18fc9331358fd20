#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::tune {

// The best known config of a run.
struct BestConfig {
  static constexpr size_t kMostRunnersUp = 8;

  std::string run_id;
  std::string kernel_name;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  codegen::Config config;
  double perf_ms = 0;
  std::string attempt_id;  // 32 hex digits: the attempt that measured it; empty: unknown
  bool is_final = true;    // measured in a final, like every config in BestConfigCache; not part of the JSON
  // The other configs of the final, fastest first. Readers take at most kMostRunnersUp.
  std::vector<codegen::Config> runners_up = {};

  // Returns true if this config is better than `other`: a final measurement beats any other measurement, because a few
  // samples of a search may be too fast; otherwise the smaller time wins.
  bool IsBetterThan(const BestConfig& other) const {
    return is_final != other.is_final ? is_final : perf_ms < other.perf_ms;
  }
};

BestConfig MakeBestConfig(const v1::Run& run, codegen::Config config, double perf_ms, std::string_view attempt_id);

// Returns an object with the names of the members as keys. The config appears twice: as an object under `config` and as
// Helion's literal under `config_text`.
record::Json ToJson(const BestConfig& best);
// Parses the text of such an object. Returns INVALID_ARGUMENT for a text that is no JSON, and FAILED_PRECONDITION if
// the object has no run_id, config or time.
absl::StatusOr<BestConfig> ParseBestConfig(const std::string& text);

// The best configs found on this machine: a folder with one small file per run. Any number of processes may use the
// folder at the same time, because files are replaced atomically.
class BestConfigCache {
 public:
  explicit BestConfigCache(std::string folder) : folder_(std::move(folder)) {}

  // Returns the cache of choices among these configs, in any order: a folder of its own below this one. Without
  // configs, returns this cache.
  BestConfigCache Among(const std::vector<codegen::Config>& configs) const;

  // Returns NOT_FOUND if no config of the run is stored, and FAILED_PRECONDITION, with the path, if the file is
  // invalid.
  absl::StatusOr<BestConfig> Find(const std::string& run_id) const;
  // Returns the configs of a kernel on this hardware for all shapes, newest first. Skips invalid files.
  std::vector<BestConfig> FindAll(const std::string& kernel_name, const std::string& hardware) const;
  // Stores `best` and replaces the run's earlier config even if that was faster: the newest attempt used the newest
  // compiler. Returns the errors of client::ReplaceFile.
  absl::Status Put(const BestConfig& best) const;

 private:
  std::string folder_;
};

}  // namespace telemetry::worker::tune
