#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "proto/record/sidecar_record.h"
#include "server/export/config_table.h"
#include "server/export/layout.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// The content of a meta record: what one sender says of a run, or several who do not contradict each other.
struct RecordParts {
  v1::Run run;
  std::optional<v1::IrGraph> graph;
  // The configs of a helion record, in its order. is_listed: true if a record listed them, false if rows named them.
  bool is_listed = false;
  std::vector<record::RecordConfig> configs;

  // Adds the configs of `other`. False: it describes the run, its graph or a config in another way; nothing changes.
  bool Merge(const RecordParts& other);

  // The record in the layout's form, its line end included; empty: the layout has none, or (keyed) run_line.h makes it.
  std::string Format(Layout layout) const;
};

// Collects what a sender says of a run while the run goes by. Not thread-safe.
class RunRecord {
 public:
  explicit RunRecord(Layout layout) : layout_(layout) {}

  // The run's device graph: a helion record holds it.
  void SetGraph(const v1::IrGraph& graph) { graph_ = graph; }
  // A config that belongs to the run; listed if one of its records named it.
  void Add(const v1::RunConfig& run_config);
  // A row of the run with this config goes by.
  void SawConfig(uint64_t config_id);

  // Nullopt: neither name nor source came, and there is no record, but in the keyed layout, which has one of every run.
  // DATA_LOSS: a listed config was never announced.
  absl::StatusOr<std::optional<RecordParts>> Parts(const v1::Run& run, const ConfigTable& configs) const;

 private:
  std::vector<uint64_t> ConfigsInOrder() const;

  const Layout layout_;
  std::optional<v1::IrGraph> graph_;
  std::map<uint64_t, std::string> listed_;  // config_id to record_keys_json
  std::vector<uint64_t> seen_in_order_;
  absl::flat_hash_set<uint64_t> seen_;
};

}  // namespace telemetry::exporter
