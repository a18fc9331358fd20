#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/export/render/config_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// The columns that depend on the run and, for each config, on its kernel. A value that no record contains is computed
// if its inputs are known (FORMATS.md, Identity), and is empty otherwise. Not thread-safe.
class RunColumns {
 public:
  // The columns of one config.
  struct OfConfig {
    std::string sample_id;
    std::string decorator_field;  // as a CSV field
  };

  RunColumns() = default;
  explicit RunColumns(const v1::Run& run);

  void Add(const v1::RunConfig& run_config);

  // Returns the run, with its kernel_id if that can be computed.
  const v1::Run& run() const { return run_; }

  // Returns the columns of a config. The reference is valid until the next call.
  const OfConfig& Of(uint64_t config_id, const ConfigText& config);

 private:
  // The values that a RunConfig contains.
  struct Known {
    std::optional<std::string> sample_id;  // raw
    std::optional<std::string> decorator;
  };

  OfConfig Compute(const Known& known, const ConfigText& config) const;

  v1::Run run_;
  std::optional<std::string> signature_;
  absl::flat_hash_map<uint64_t, Known> known_;
  absl::flat_hash_map<uint64_t, OfConfig> computed_;
};

}  // namespace telemetry::exporter::render
