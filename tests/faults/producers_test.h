#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/storage/sql/database.h"
#include "tests/environment.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {

inline constexpr int kProducers = 8;

// Eight producer processes in a folder of their own, and what they were promised.
class ProducersTest : public testing::Test {
 protected:
  ProducersTest();
  ~ProducersTest() override;

  // The dataset as it is now.
  virtual std::unique_ptr<storage::Database> OpenDataset() = 0;

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  uint64_t AckedBy(int number) const { return Ledger::Read(LedgerOf(number)).acked; }

  // They send to address_.
  void StartProducer(int number);
  void StartProducers();
  void KillProducer(int number);

  // A moment that nobody can foresee: time is what these tests are about.
  void WaitForARandomMoment();
  // Blocks until each producer has received another acknowledgement.
  void AwaitProgress();

  // Checks that all records acknowledged so far are stored.
  void ExpectAckedIsStored();
  int64_t Query(const char* sql);
  // Lets the producers deliver what they have, and end.
  void StopProducers();
  // Holds the dataset against the ledgers of producers that have ended.
  void ExpectLedgersAreStoredOnce();

  const unsigned seed_;
  std::mt19937 random_;
  std::string folder_;
  std::string address_;
  int pause_ms_ = 5;  // after each ten records: slow enough that a run of many faults stays small
  std::map<int, pid_t> producers_;

 private:
  std::string LedgerOf(int number) const { return File("ledger-" + std::to_string(number)); }
};

}  // namespace telemetry::faults
