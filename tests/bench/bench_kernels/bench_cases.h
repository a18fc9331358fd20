#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// A measured case: a kernel of the library, its arguments in the form of --arg, and a config that was chosen by hand.
struct BenchCase {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string config;  // empty: the default config
};

// Returns the cases, whose configs suit a GPU like the H200.
const std::vector<BenchCase>& BenchCases();

}  // namespace telemetry::bench
