#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/bench/bench_ingest/workload.h"

namespace telemetry::faults {

// Load on a collector for as long as it lives: producers that append attempt after attempt, go and come back, and a
// reader that asks for an attempt each second: for the same one, so that its answers cost the same throughout. The
// dataset grows by it, as in operation between two prunings.
class SoakLoad {
 public:
  struct Options {
    std::string collector;
    std::string folder;  // the spools are folders whose names begin with it
    int producers = 4;
    int attempts_a_connection = 20;
  };

  explicit SoakLoad(Options options);
  // Ends it, when all that was appended is acknowledged.
  ~SoakLoad();

  // Of all producers together, from now on. Before: as many as go through.
  void SetPace(double records_per_s) { records_per_s_ = records_per_s; }

  uint64_t committed() const { return committed_; }
  uint64_t refused() const { return refused_; }
  uint64_t reads() const { return reads_; }
  uint64_t failed_reads() const { return failed_reads_; }

 private:
  struct Share;
  void Produce(int number);
  void ProduceOverOneConnection(Share& share);
  absl::Time NextTime(absl::Time last, size_t count) const;
  void Read();

  const Options options_;
  const bench::Workload workload_;
  std::atomic<double> records_per_s_ = 0;  // 0: no pace
  std::atomic<uint64_t> committed_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> reads_ = 0;
  std::atomic<uint64_t> failed_reads_ = 0;
  absl::Notification end_;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::faults
