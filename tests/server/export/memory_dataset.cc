#include "tests/server/export/memory_dataset.h"

#include <map>
#include <set>
#include <utility>

#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::exporter {
struct MemoryDataset::AttemptData {
  v1::AttemptSummary summary;
  std::vector<v1::Measurement> rows;
  std::map<uint64_t, std::string> source_hashes;  // by seq
  std::map<uint64_t, v1::MeasurementDetail> details;
  std::vector<v1::AttemptEvent> events;

  // Delivers the rows in items of `rows_per_item`.
  absl::Status Deliver(int rows_per_item, const ItemSink& sink) const {
    v1::ExportItem item;
    for (const v1::Measurement& row : rows) {
      *item.mutable_rows()->add_measurements() = row;
      if (auto hash = source_hashes.find(row.seq()); hash != source_hashes.end()) {
        v1::SourceHash* source_hash = item.mutable_rows()->add_source_hashes();
        source_hash->set_seq(row.seq());
        source_hash->set_source_hash(hash->second);
      }
      if (auto detail = details.find(row.seq()); detail != details.end()) {
        *item.mutable_rows()->add_details() = detail->second;
      }
      if (item.rows().measurements_size() < rows_per_item) continue;
      if (absl::Status status = sink(item); !status.ok()) return status;
      item.Clear();
    }
    if (item.has_rows()) {
      if (absl::Status status = sink(item); !status.ok()) return status;
    }
    for (const v1::AttemptEvent& event : events) {
      v1::ExportItem event_item;
      *event_item.mutable_events()->add_events() = event;
      if (absl::Status status = sink(event_item); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

struct MemoryDataset::RunData {
  v1::RunSummary summary;
  std::vector<v1::IrGraph> graphs;
  std::map<uint64_t, std::string> configs;
  std::vector<v1::RunConfig> run_configs;
  std::vector<AttemptData> attempts;
};

MemoryDataset::MemoryDataset() = default;
MemoryDataset::~MemoryDataset() = default;

MemoryDataset& MemoryDataset::Run(const v1::Run& run) {
  runs_.push_back(std::make_unique<RunData>());
  *runs_.back()->summary.mutable_run() = run;
  return *this;
}

MemoryDataset& MemoryDataset::Run(const std::string& run_id) {
  v1::Run run;
  run.set_run_id(run_id);
  return Run(run);
}

MemoryDataset& MemoryDataset::Graph(const v1::IrGraph& graph) {
  runs_.back()->graphs.push_back(graph);
  return *this;
}

MemoryDataset& MemoryDataset::RunConfig(const v1::RunConfig& run_config) {
  runs_.back()->run_configs.push_back(run_config);
  return *this;
}

MemoryDataset& MemoryDataset::Config(uint64_t config_id, const std::string& text) {
  runs_.back()->configs[config_id] = text;
  return *this;
}

MemoryDataset& MemoryDataset::Attempt(const v1::Attempt& attempt) {
  AttemptData data;
  *data.summary.mutable_attempt() = attempt;
  data.summary.mutable_attempt()->set_run_id(runs_.back()->summary.run().run_id());
  runs_.back()->attempts.push_back(std::move(data));
  return *this;
}

MemoryDataset& MemoryDataset::Attempt(char id_byte) {
  v1::Attempt attempt;
  attempt.set_attempt_id(std::string(16, id_byte));
  return Attempt(attempt);
}

MemoryDataset& MemoryDataset::Add(const Row& row) {
  AttemptData& attempt = runs_.back()->attempts.back();
  v1::Measurement measurement;
  measurement.set_seq(row.seq.value_or(attempt.rows.size() + 1));
  measurement.set_timestamp_s(row.timestamp_s);
  measurement.set_generation(row.generation);
  measurement.set_status(row.status);
  if (row.perf_ms.has_value()) measurement.set_perf_ms(*row.perf_ms);
  if (row.compile_time_s.has_value()) measurement.set_compile_time_s(*row.compile_time_s);
  measurement.set_config_id(ComputeConfigId(row.config_text));
  if (row.failure.ByteSizeLong() > 0) *measurement.mutable_failure() = row.failure;
  if (row.detail.has_value()) {
    attempt.details[measurement.seq()] = *row.detail;
    attempt.details[measurement.seq()].set_seq(measurement.seq());
  }
  if (!row.source_hash.empty()) attempt.source_hashes[measurement.seq()] = row.source_hash;
  attempt.rows.push_back(measurement);
  attempt.summary.set_measurements(attempt.rows.size());
  return Config(measurement.config_id(), row.config_text);
}

MemoryDataset& MemoryDataset::Event(const std::string& text) {
  AttemptData& attempt = runs_.back()->attempts.back();
  v1::AttemptEvent event;
  event.set_seq(attempt.events.size() + 1);
  event.set_text(text);
  attempt.events.push_back(std::move(event));
  return *this;
}

DatasetSource MemoryDataset::Source(int rows_per_item) const {
  return [this, rows_per_item](const v1::ExportRequest& request, const ItemSink& sink) {
    asked_ = request;
    return Deliver(rows_per_item, sink);
  };
}

absl::Status MemoryDataset::Deliver(int rows_per_item, const ItemSink& sink) const {
  std::set<uint64_t> announced;
  std::vector<v1::ExportItem> items(1);
  v1::ExportTotals* totals = items.front().mutable_totals();
  totals->set_runs(runs_.size());
  for (const auto& run : runs_) {
    for (const AttemptData& attempt : run->attempts) {
      totals->set_measurements(totals->measurements() + attempt.rows.size());
    }
  }
  for (const auto& run : runs_) {
    *items.emplace_back().mutable_run() = run->summary;
    for (const v1::IrGraph& graph : run->graphs) *items.emplace_back().mutable_ir_graph() = graph;
    for (const auto& [config_id, text] : run->configs) {
      if (!announced.insert(config_id).second) continue;
      v1::Config* config = items.emplace_back().mutable_configs()->add_configs();
      config->set_config_id(config_id);
      config->set_text(text);
    }
    for (const v1::RunConfig& run_config : run->run_configs) {
      *items.emplace_back().mutable_run_configs()->add_run_configs() = run_config;
    }
    for (const AttemptData& attempt : run->attempts) {
      *items.emplace_back().mutable_attempt() = attempt.summary;
      auto collect = [&](const v1::ExportItem& item) {
        items.push_back(item);
        return absl::OkStatus();
      };
      if (absl::Status status = attempt.Deliver(rows_per_item, collect); !status.ok()) return status;
    }
  }
  for (const v1::ExportItem& item : items) {
    if (absl::Status status = sink(item); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string Id64(char digit) { return std::string(64, digit); }

uint64_t ComputeConfigId(const std::string& config_text) {
  return record::ConfigId(record::ParseConfig(config_text).value());
}

v1::Run SoftmaxRun(char id_digit) {
  v1::Run run;
  run.set_run_id(Id64(id_digit));
  run.set_kernel_name("softmax");
  run.set_kernel_source("def softmax(x):\n    return x\n");
  run.set_input_shapes("[(4096, 2560)]");
  run.set_dtypes("['torch.float16']");
  run.set_hardware("NVIDIA H200");
  return run;
}

}  // namespace telemetry::exporter
