// Attacks on a collector, each of which one process makes for as long as it lives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/faults/attacks/tally.h"

namespace telemetry::faults {

// The collector that is attacked. It listens on 127.0.0.1.
struct Target {
  int port;
  int metrics_port;
  // The attacker's address, the last number of 127.0.0.x, where it writes its frames by hand. gRPC's clients are
  // 127.0.0.1.
  uint32_t host;
  // Counts what the attacker has done.
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
// All of them.
std::vector<Attack> AllAttacks();

// Attacks have the sizes of production: TELEMETRY_FAULTS is at least 1000.
bool FullSize();

// Runs the function again and again in so many threads, with a number from 0 for each. Does not return.
void ForEver(int threads, const std::function<void(int)>& attack);

}  // namespace telemetry::faults
