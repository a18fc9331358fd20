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
// The longest time that a test waits for something that must happen, and the time between two looks.
inline constexpr absl::Duration kPatience = absl::Minutes(3);
inline constexpr absl::Duration kLookInterval = absl::Milliseconds(20);

// A fixture with eight producer processes in a temporary folder, and the ledgers of the promises made to them.
class ProducersTest : public testing::Test {
 protected:
  ProducersTest();
  ~ProducersTest() override;

  // Opens the current dataset.
  virtual std::unique_ptr<storage::sql::Database> OpenDataset() = 0;

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  std::string LedgerPath(int number) const { return File("ledger-" + std::to_string(number)); }
  uint64_t AckedBy(int number) const { return Ledger::Read(LedgerPath(number)).acked; }

  // Start producers that send to address_.
  void StartProducer(int number);
  void StartProducers();
  void KillProducer(int number);

  // Waits for a random time, so that faults occur at any point of the protocol.
  void WaitForARandomMoment();
  // Blocks until each producer has received another acknowledgement.
  void AwaitProgress();

  // Checks that all records acknowledged so far are stored.
  virtual void ExpectAckedIsStored();
  int64_t Query(const char* sql);
  // Lets the producers deliver their remaining records and end.
  void StopProducers();
  // Compares the dataset with the ledgers of producers that have ended.
  void ExpectLedgersAreStoredOnce();

  const unsigned seed_;
  std::mt19937 random_;
  std::string folder_;
  std::string address_;
  bool many_attempts_ = false;  // the producers' log is attempts_log.h instead of MakeRecord (ledger.h)
  int pause_ms_ = 5;            // after every ten records; limits the dataset's size in a run with many faults
  std::map<int, pid_t> producers_;
};

}  // namespace telemetry::faults
