#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// A measured case: a kernel of the library, its arguments in the form of --arg, and a config that was chosen by hand.
struct BenchCase {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string config;  // "": the default one
};

// For a GPU of the H200's kind.
const std::vector<BenchCase>& BenchCases();

}  // namespace telemetry::bench
