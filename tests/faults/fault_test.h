#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {

inline constexpr int kProducers = 8;

// TELEMETRY_FAULTS: how many faults a test makes.
int Faults(int otherwise = 50);

// A collector and eight producer processes in a folder of their own.
class FaultTest : public testing::Test {
 protected:
  FaultTest();
  ~FaultTest() override;

  // The first time on a free port, then again on that one.
  void StartCollector(const std::vector<std::string>& flags = {}, const std::vector<std::string>& environment = {});

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  virtual std::string db() const { return File("dataset.db"); }
  std::string LogText() const;
  uint64_t AckedBy(int number) const { return Ledger::Read(LedgerOf(number)).acked; }

  void StartProducer(int number);
  void StartProducers();
  void KillProducer(int number);

  // A moment that nobody can foresee: time is what these tests are about.
  void WaitForARandomMoment();
  // Until each producer has had something acknowledged that was not before.
  void AwaitProgress();
  // Until the collector's log has these words so many times. False: not within a minute.
  bool AwaitLog(const std::string& words, int times = 1);

  // What the producers were promised is stored, while no collector runs.
  void ExpectAckedIsStored();
  // The dataset has at least rows 1 to `count` of a producer, each as it was appended, and none twice.
  void ExpectRows(int number, uint64_t count);
  // The same of a copy of the dataset.
  static void ExpectRowsIn(const std::string& path, int number, uint64_t count);
  int64_t Query(const char* sql);
  // Lets the producers deliver what they have, and end.
  void StopProducers();
  // As StopProducers; then holds the dataset against their ledgers.
  void ExpectEverythingStoredOnce();

  const unsigned seed_;
  std::mt19937 random_;
  std::string folder_;
  std::string address_;
  int port_ = 0;
  std::unique_ptr<bench::CollectorProcess> collector_;
  std::map<int, pid_t> producers_;

 private:
  std::string LedgerOf(int number) const { return File("ledger-" + std::to_string(number)); }
};

}  // namespace telemetry::faults
