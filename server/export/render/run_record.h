#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "proto/record/sidecar/meta_record.h"
#include "server/export/render/config_formatter.h"
#include "server/export/render/config_table.h"
#include "server/export/render/layout.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// The content of a meta record: the description of a run by one sender, or by several senders that do not contradict
// each other.
struct RecordParts {
  v1::Run run;
  std::optional<v1::IrGraph> graph;
  // The configs of a helion record, in its order. is_listed is true if a record listed them, false if rows referred to
  // them.
  bool is_listed = false;
  std::vector<record::sidecar::RecordConfigJson> configs;

  // Adds the configs of `other`. Returns false and changes nothing if `other` describes the run, its graph or a config
  // differently.
  bool Merge(const RecordParts& other);

  // Returns the record in the layout's form with its line end. Returns an empty string if the layout has no records,
  // for the keyed layout, whose records run_line.h formats, and for those of Kernel Tuner.
  std::string Format(Layout layout) const;
};

// Collects a sender's description of a run from the items of the run. Not thread-safe.
class RunRecord {
 public:
  explicit RunRecord(Layout layout) : layout_(layout) {}

  // Sets the run's device graph, which a helion record contains.
  void SetGraph(const v1::IrGraph& graph) { graph_ = graph; }
  // Adds a config of the run. The config is listed if one of the run's records contained it.
  void Add(const v1::RunConfig& run_config);
  // Marks the config as used by a row of the run.
  void SawConfig(uint64_t config_id);

  // Returns the content of the record. Returns nullopt if neither name nor source of the kernel are known: then there
  // is no record, except in the keyed layout and those of Kernel Tuner, which have one for every run. Returns DATA_LOSS
  // if the text of a listed config is missing.
  absl::StatusOr<std::optional<RecordParts>> Parts(const v1::Run& run, const ConfigTable& configs,
                                                   ConfigFormatter* formatter) const;

 private:
  std::vector<uint64_t> ConfigsInOrder() const;

  const Layout layout_;
  std::optional<v1::IrGraph> graph_;
  std::vector<std::string> key_lists_;            // each record_keys_json that differs from the one before
  absl::flat_hash_map<uint64_t, size_t> listed_;  // config_id to index in key_lists_
  std::vector<uint64_t> seen_in_order_;
  absl::flat_hash_set<uint64_t> seen_;
};

}  // namespace telemetry::exporter::render
