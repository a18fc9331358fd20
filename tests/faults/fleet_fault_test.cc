// Tests three collectors on one PostgreSQL database, with eight producers that connect to another collector whenever
// they lose a connection: no record is lost, none is stored twice, and no session waits forever.
//
// TELEMETRY_FAULTS is the number of faults (default 100).

#include <array>
#include <iostream>

#include "tests/faults/fleet_fault_fixture.h"

namespace telemetry::faults {
namespace {

TEST_F(FleetFaultTest, CollectorsAndTheServerDieAndCommitsAreCutOff) {
  StartProducers();
  std::array<int, 3> faults = {};
  for (int fault = 0; fault < Faults(100) && !HasFailure(); ++fault) {
    WaitForARandomMoment();
    const int kind = RandomBelow(3);
    kind == 0 ? KillACollector() : kind == 1 ? KillTheServer() : CutACommit();
    ++faults[kind];
    if (fault % 10 == 9) AwaitProgress();
  }
  std::cout << "collectors killed: " << faults[0] << ", servers killed: " << faults[1]
            << ", commits cut off: " << faults[2] << std::endl;
  balancer_->Behave();
  AwaitProgress();
  StopProducers();
  ExpectNoLockIsLeft();
  ExpectLedgersAreStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
