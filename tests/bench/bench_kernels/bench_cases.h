#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// What is measured: a kernel of the library, its arguments as --arg takes them, and a config that was picked by hand.
struct BenchCase {
  std::string kernel;
  std::vector<std::string> arguments;
  std::string config;  // "": the default one
};

// For a GPU of the H200's kind.
const std::vector<BenchCase>& BenchCases();

}  // namespace telemetry::bench
