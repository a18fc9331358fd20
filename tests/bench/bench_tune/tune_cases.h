#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// One case of the benchmark: a kernel, its arguments and a time to compare with.
struct TuneCase {
  std::string kernel;
  std::vector<std::string> arguments;  // in the syntax of --arg
  double target_ms = 0;                // on an NVIDIA H200; 0: none
};

const std::vector<TuneCase>& TuneCases();

}  // namespace telemetry::bench
