#include "worker/model/dataset_runs.h"

#include <map>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/ir_record.h"
#include "worker/model/device_record.h"
#include "worker/replay/run_collector.h"
#include "worker/snapshot/lines.h"
#include "worker/snapshot/snapshot_reader.h"

namespace telemetry::worker::model {
namespace {

using device::DeviceProperties;

// Returns the counts of the graphs of BASE.ir.jsonl by run_id; of several graphs of a run, those of the first. A
// snapshot may have no such file.
absl::StatusOr<std::map<std::string, GraphCounts>> ReadGraphs(const std::string& path) {
  std::map<std::string, GraphCounts> counts;
  absl::StatusOr<snapshot::Lines> lines = snapshot::Lines::Open(path);
  if (!lines.ok()) return counts;
  while (true) {
    record::Json line;
    ASSIGN_OR_RETURN(const bool found, lines->NextJson(&line));
    if (!found) return counts;
    const absl::StatusOr<v1::IrGraph> graph = record::sidecar::ParseIrRecord(line);
    if (!graph.ok()) return lines->Wrong(std::string(graph.status().message()));
    counts.emplace(graph->run_id(), CountOperations(*graph));
  }
}

}  // namespace

absl::StatusOr<std::vector<DatasetRun>> ReadDatasetRuns(const std::string& base,
                                                        const std::function<bool(const v1::Run&)>& is_selected) {
  replay::RunCollector collector;
  std::map<std::string, v1::Run> runs;                  // the selected ones
  std::map<std::string, DeviceProperties> of_run;       // by run_id
  std::map<std::string, DeviceProperties> of_hardware;  // by name, of all runs
  const v1::Run* current = nullptr;
  v1::Run other;  // the current run if it is not selected
  bool is_current_selected = false;
  RETURN_IF_ERROR(snapshot::ReadSnapshot(base, [&](const v1::ExportItem& item) {
    if (item.has_run()) {
      other = item.run().run();
      is_current_selected = is_selected(other);
      current = is_current_selected ? &(runs[other.run_id()] = other) : &other;
    } else if (item.has_attempt() && current != nullptr) {
      if (const auto device = ReadDevice(item.attempt().attempt().environment_json())) {
        of_run.emplace(current->run_id(), *device);
        of_hardware.emplace(current->hardware(), *device);
      }
    }
    // The text of a config comes with its first row in the dataset, which may be of another run.
    if (is_current_selected || item.has_configs()) collector.Take(item);
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(const auto graphs, ReadGraphs(base + ".ir.jsonl"));
  const auto find = [](const auto& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<DatasetRun> read;
  for (replay::StoredRun& stored : collector.Finish()) {
    v1::Run& run = runs[stored.run_id];
    std::optional<DeviceProperties> device = find(of_run, run.run_id());
    if (!device) device = find(of_hardware, run.hardware());
    std::optional<GraphCounts> graph = find(graphs, run.run_id());
    read.push_back({.stored = std::move(stored), .run = std::move(run), .device = device, .graph = graph});
  }
  return read;
}

}  // namespace telemetry::worker::model
