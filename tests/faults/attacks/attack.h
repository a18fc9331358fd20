// Attacks on a collector. Each one runs in a separate process until the process is killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/faults/attacks/tally.h"

namespace telemetry::faults {

// The attacked collector, which listens on 127.0.0.1.
struct Target {
  int port;
  int metrics_port;
  // The last number of the attacker's address 127.0.0.x for connections with hand-written frames. gRPC clients use
  // 127.0.0.1.
  uint32_t host;
  // Counts the attacker's actions.
  Tally& tally;

  std::string address() const;
};

// An attack on a collector, run by a process of its own.
struct Attack {
  std::string name;
  std::string unit;  // unit of the tally
  // Does not return.
  std::function<void(const Target&)> run;
};

std::vector<Attack> ConnectionAttacks();
std::vector<Attack> MessageAttacks();
std::vector<Attack> RecordAttacks();
std::vector<Attack> ExportAttacks();
std::vector<Attack> CacheAttacks();
std::vector<Attack> ModelAttacks();
// Returns the attacks of all groups.
std::vector<Attack> AllAttacks();

// Returns true if attacks have the sizes of production: TELEMETRY_FAULTS is at least 1000.
bool FullSize();

// Calls the function repeatedly in `threads` threads, with the thread's number (from 0). Does not return.
void ForEver(int threads, const std::function<void(int)>& attack);

}  // namespace telemetry::faults
