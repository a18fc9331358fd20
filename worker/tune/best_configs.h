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
  std::string run_id;
  std::string kernel_name;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  codegen::Config config;
  double perf_ms = 0;
  std::string attempt_id;  // 32 hex digits: which attempt measured it; may be empty
  bool is_final = true;    // measured in a final, as all that tuning keeps; not part of the JSON

  // A final measurement is better than any other, however fast a few samples were; then the smaller time.
  bool IsBetterThan(const BestConfig& other) const {
    return is_final != other.is_final ? is_final : perf_ms < other.perf_ms;
  }
};

BestConfig BestOf(const v1::Run& run, codegen::Config config, double perf_ms, std::string_view attempt_id);

// An object with the members' names as keys; `config` both as an object and, under `config_text`, as Helion's literal.
record::Json ToJson(const BestConfig& best);

// The best configs that this machine knows: one small file per run in a folder. Any number of processes may use it:
// files are replaced whole.
class BestConfigCache {
 public:
  explicit BestConfigCache(std::string folder) : folder_(std::move(folder)) {}

  // NOT_FOUND: none is known. FAILED_PRECONDITION: the file cannot be read; says which.
  absl::StatusOr<BestConfig> Find(const std::string& run_id) const;
  // Those of a kernel on that hardware, whatever its shapes, the newest first. Files that cannot be read are
  // left out.
  std::vector<BestConfig> FindAll(const std::string& kernel_name, const std::string& hardware) const;
  // Keeps it, whatever was known before: the newest attempt had the newest compiler. Errors are client::ReplaceFile's.
  absl::Status Put(const BestConfig& best) const;

 private:
  std::string folder_;
};

}  // namespace telemetry::worker::tune
