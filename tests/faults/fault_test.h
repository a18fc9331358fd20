#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/producers_test.h"

namespace telemetry::faults {

// Producers, and one collector on a file.
class FaultTest : public ProducersTest {
 protected:
  // The first time on a free port, then again on that one.
  void StartCollector(const std::vector<std::string>& flags = {}, const std::vector<std::string>& environment = {});

  virtual std::string db() const { return File("dataset.db"); }
  std::unique_ptr<storage::Database> OpenDataset() override { return OpenFile(db()); }
  // A copy of it, too.
  static std::unique_ptr<storage::Database> OpenFile(const std::string& path);
  std::string LogText() const;

  // Until the collector's log has these words so many times. False: not within a minute.
  bool AwaitLog(const std::string& words, int times = 1);

  // Stops all, and holds the dataset against the ledgers.
  void ExpectEverythingStoredOnce();

  int port_ = 0;
  std::unique_ptr<bench::CollectorProcess> collector_;
};

}  // namespace telemetry::faults
