// Tests processes that are killed at random moments, and lost acknowledgements: no record is lost, none is stored
// twice.
//
// TELEMETRY_FAULTS is the number of faults in each test (default 50).

#include <random>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/faults/fault_test.h"
#include "tests/proxy/cutting_proxy.h"

namespace telemetry::faults {
namespace {

class KillTest : public FaultTest {
 protected:
  KillTest() { StartCollector(); }

  // Kills the collector, checks that all acknowledged records are stored, and restarts it.
  void KillCollector() {
    collector_->Kill();
    ExpectAckedIsStored();
    StartCollector();
  }
};

TEST_F(KillTest, TheCollectorDiesAtAnyMoment) {
  StartProducers();
  AwaitProgress();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillCollector();
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, ProducersDieAtAnyMoment) {
  StartProducers();
  AwaitProgress();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillProducer(std::uniform_int_distribution<int>(0, kProducers - 1)(random_));
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, BothDieAtAnyMoment) {
  StartProducers();
  AwaitProgress();
  for (int fault = 0; fault < Faults() && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    KillProducer(std::uniform_int_distribution<int>(0, kProducers - 1)(random_));
    if (fault % 4 == 0) KillCollector();
  }
  ExpectEverythingStoredOnce();
}

TEST_F(KillTest, AcknowledgementsAreCutOff) {
  proxy::CuttingProxy proxy({port_}, seed_);
  address_ = proxy.address();
  StartProducers();
  EXPECT_TRUE(proxy.AwaitCuts(Faults(), absl::Minutes(2)));
  proxy.Behave();
  AwaitProgress();
  ExpectEverythingStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
