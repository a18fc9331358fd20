#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/export/config_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// What the rows of one run say of the run and, config by config, of the kernel that it makes. What no record brought is
// computed where its parts are known (FORMATS.md, Identity), else it is empty. Not thread-safe.
class RunColumns {
 public:
  struct OfConfig {
    std::string sample_id;
    std::string decorator_field;  // as a CSV field
  };

  RunColumns() = default;
  explicit RunColumns(const v1::Run& run);

  void Add(const v1::RunConfig& run_config);

  // The run, with its kernel_id where that can be computed.
  const v1::Run& run() const { return run_; }

  // The reference is valid until the next call.
  const OfConfig& Of(uint64_t config_id, const ConfigText& config);

 private:
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

}  // namespace telemetry::exporter
