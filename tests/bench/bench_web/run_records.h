#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"
#include "tests/bench/bench_web/config_space.h"

namespace telemetry::bench {

// The size of the dataset, and the runs that it consists of.
struct DatasetSize {
  uint64_t rows = 10'000'000;
  uint64_t runs = 20'000;
  uint64_t kernels = 50;

  // Returns the measurements of a run. Run 0 has 500 times as many as most runs, and one of 100 runs has 12 times as
  // many.
  uint64_t RowsOf(uint64_t run) const;
};

// Returns the kernel of a run.
inline uint64_t KernelOf(const DatasetSize& size, uint64_t run) { return run % size.kernels; }

// The records of a run and its one to three attempts, in the order of a producer's log. A row "started" precedes the
// row of each result. Every call returns the same records, apart from times, which are relative to `started_unix_us`.
class RunRecords {
 public:
  // `configs`: those of the kernel. `known`: tells for each of them if its record has been sent.
  RunRecords(const DatasetSize& size, uint64_t run, int64_t started_unix_us, const std::vector<PlannedConfig>& configs,
             std::vector<bool>* known)
      : size_(size), run_(run), started_unix_us_(started_unix_us), configs_(configs), known_(*known) {}

  std::vector<v1::Record> Build();

 private:
  void AddRun();
  void AddGraph();
  // Adds an attempt with `rows` measurements.
  void AddAttempt(uint64_t attempt, uint64_t rows);
  void AddEvents(uint64_t attempt);
  // Adds the two rows of a config.
  void AddResult(const PlannedConfig& config, uint64_t row);
  void AddFailure(v1::Measurement* row, uint64_t kind);
  void AddFinal(const PlannedConfig& config, uint64_t row);
  const PlannedConfig& UseConfig(uint64_t index);
  v1::Measurement* AddRow(uint64_t row, const char* status, const PlannedConfig& config);
  v1::MeasurementDetail* AddDetail(uint64_t row, v1::MeasurementDetail::Stage stage);
  uint64_t version() const;
  // Returns the time of a perfect config of this run.
  double LeastMs() const;

  const DatasetSize& size_;
  const uint64_t run_;
  const int64_t started_unix_us_;
  const std::vector<PlannedConfig>& configs_;
  std::vector<bool>& known_;
  std::string run_id_;
  std::string attempt_id_;
  uint64_t seed_ = 0;  // of the current attempt
  std::vector<v1::Record> records_;
};

}  // namespace telemetry::bench
