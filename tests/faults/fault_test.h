#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/producers_test.h"

namespace telemetry::faults {

// A fixture with producers and one collector on a SQLite file.
class FaultTest : public ProducersTest {
 protected:
  // Starts the collector: the first time on a free port, later on the same port.
  void StartCollector(const std::vector<std::string>& flags = {}, const std::vector<std::string>& environment = {});

  virtual std::string db() const { return File("dataset.db"); }
  std::unique_ptr<storage::sql::Database> OpenDataset() override { return OpenFile(db()); }
  // Opens the dataset's file or a copy of it.
  static std::unique_ptr<storage::sql::Database> OpenFile(const std::string& path);
  std::string LogText() const;

  // Blocks until the collector's log contains `words` at least `times` times. Returns false if it does not within a
  // minute.
  bool AwaitLog(const std::string& words, int times = 1);

  // Stops all processes and compares the dataset with the ledgers.
  void ExpectEverythingStoredOnce();

  int port_ = 0;
  std::unique_ptr<bench::CollectorProcess> collector_;
};

}  // namespace telemetry::faults
