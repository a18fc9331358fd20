#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// One case of the benchmark: a library kernel, its arguments in the syntax of --arg, and a config selected by hand.
struct BenchCase {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string config;  // empty: the default config
};

// Returns the cases, whose configs suit a GPU like the H200.
const std::vector<BenchCase>& BenchCases();

}  // namespace telemetry::bench
