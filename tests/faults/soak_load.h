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

// A load on a collector during the lifetime of this object: producers that append attempts, disconnect and reconnect,
// and a reader that requests an attempt every second. It is always the same attempt, so that the cost of a response is
// constant. The dataset grows, as in operation between two prunings.
class SoakLoad {
 public:
  struct Options {
    std::string collector;
    std::string folder;  // the prefix of the spool folders' names
    int producers = 4;
    int attempts_a_connection = 20;
  };

  explicit SoakLoad(Options options);
  // Ends the load when all appended records are acknowledged.
  ~SoakLoad();

  // Sets the total rate of all producers from now on. Initially they append as fast as they can.
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
  std::atomic<double> records_per_s_ = 0;  // 0: unlimited
  std::atomic<uint64_t> committed_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> reads_ = 0;
  std::atomic<uint64_t> failed_reads_ = 0;
  absl::Notification end_;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::faults
