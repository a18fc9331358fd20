#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/export/config_table.h"
#include "server/export/layout.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// Collects what a run's meta record says while the run goes by, and writes it at the run's end. A run of which neither
// name nor source came has no record. Not thread-safe.
class RunRecord {
 public:
  explicit RunRecord(Layout layout) : layout_(layout) {}

  // The run's device graph: a helion record holds it.
  void SetGraph(const v1::IrGraph& graph) { graph_ = graph; }
  // A config that belongs to the run; listed if one of its records named it.
  void Add(const v1::RunConfig& run_config);
  // A row of the run with this config goes by.
  void SawConfig(uint64_t config_id);

  // The record in the layout's form, its line end included; empty: there is none. DATA_LOSS: a listed config was never
  // announced.
  absl::StatusOr<std::string> Format(const v1::Run& run, const ConfigTable& configs) const;

 private:
  absl::StatusOr<std::string> FormatHelion(const v1::Run& run, const ConfigTable& configs) const;
  std::vector<uint64_t> ConfigsInOrder() const;

  const Layout layout_;
  std::optional<v1::IrGraph> graph_;
  std::map<uint64_t, std::string> listed_;  // config_id to record_keys_json
  std::vector<uint64_t> seen_in_order_;
  absl::flat_hash_set<uint64_t> seen_;
};

}  // namespace telemetry::exporter
