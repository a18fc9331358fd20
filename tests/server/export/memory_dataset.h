#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/export/dataset_source.h"
#include "telemetry/v1/dataset.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// A dataset made by hand, delivered in the order of dataset.proto. Runs and attempts are delivered in the order in
// which they were added.
class MemoryDataset {
 public:
  struct Row {
    std::string config_text = "Config(num_warps=4)";
    std::string status = "ok";
    double timestamp_s = 1;
    int64_t generation = 0;
    std::optional<double> perf_ms = std::nullopt;
    std::optional<double> compile_time_s = std::nullopt;
    std::string source_hash = {};
    v1::Failure failure = {};  // unset: none
    std::optional<v1::MeasurementDetail> detail = std::nullopt;
  };

  MemoryDataset();
  ~MemoryDataset();

  // What follows belongs to this run, until the next one.
  MemoryDataset& Run(const v1::Run& run);
  // A run with this id of which no record came.
  MemoryDataset& Run(const std::string& run_id);
  MemoryDataset& Graph(const v1::IrGraph& graph);
  MemoryDataset& RunConfig(const v1::RunConfig& run_config);
  MemoryDataset& Config(uint64_t config_id, const std::string& text);
  // The rows that follow belong to this attempt of the run.
  MemoryDataset& Attempt(const v1::Attempt& attempt);
  MemoryDataset& Attempt(char id_byte);  // 16 times this byte
  // seq counts from 1.
  MemoryDataset& Add(const Row& row);

  // Rows come in items of this many. The source must not outlive the dataset.
  DatasetSource Source(int rows_per_item = 1000) const;

  // What the source was last asked for. Nothing is selected here: that is the store's part.
  const v1::ExportRequest& asked() const { return asked_; }

 private:
  struct RunData;

  absl::Status Deliver(int rows_per_item, const ItemSink& sink) const;

  std::vector<std::unique_ptr<RunData>> runs_;
  mutable v1::ExportRequest asked_;
};

// 64 times this digit.
std::string Id64(char digit);

// The config_id that a config's text has.
uint64_t ConfigIdOf(const std::string& config_text);

// A run of the kernel "softmax" on an H200, of which everything is known but its settings.
v1::Run SoftmaxRun(char id_digit);

}  // namespace telemetry::exporter
