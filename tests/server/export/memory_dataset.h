#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/export/dataset_source.h"
#include "telemetry/v1/dataset.pb.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// A dataset built by a test and delivered in the order of dataset.proto. Runs and attempts are delivered in the order
// in which they were added.
class MemoryDataset {
 public:
  // A row with its config, hash, failure and detail.
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
    std::optional<uint64_t> seq = std::nullopt;  // unset: the next one
  };

  MemoryDataset();
  ~MemoryDataset();

  // Adds a run. The items that follow belong to it.
  MemoryDataset& Run(const v1::Run& run);
  // Adds a run with this id without a description.
  MemoryDataset& Run(const std::string& run_id);
  MemoryDataset& Graph(const v1::IrGraph& graph);
  MemoryDataset& RunConfig(const v1::RunConfig& run_config);
  MemoryDataset& Config(uint64_t config_id, const std::string& text);
  // Adds an attempt of the run. The rows that follow belong to it.
  MemoryDataset& Attempt(const v1::Attempt& attempt);
  MemoryDataset& Attempt(char id_byte);  // with an id of 16 times this byte
  // Adds a row with the next seq, from 1.
  MemoryDataset& Add(const Row& row);

  // Adds an event with the next seq, from 1.
  MemoryDataset& Event(const std::string& text);

  // Returns a source that delivers rows in items of `rows_per_item`. The source must not outlive the dataset.
  DatasetSource Source(int rows_per_item = 1000) const;

  // Returns the last request to the source. The source ignores the filter, which is the Store's task.
  const v1::ExportRequest& asked() const { return asked_; }

 private:
  struct AttemptData;
  struct RunData;

  absl::Status Deliver(int rows_per_item, const ItemSink& sink) const;

  std::vector<std::unique_ptr<RunData>> runs_;
  mutable v1::ExportRequest asked_;
};

// Returns 64 times this digit.
std::string Id64(char digit);

// Returns the config_id of a config's text.
uint64_t ComputeConfigId(const std::string& config_text);

// Returns a run of the kernel "softmax" on an H200 with every field except its settings.
v1::Run SoftmaxRun(char id_digit);

}  // namespace telemetry::exporter
