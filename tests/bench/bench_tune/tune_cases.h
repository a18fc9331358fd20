#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

struct TuneCase {
  std::string kernel;
  std::vector<std::string> arguments;  // as --arg takes them
  double target_ms = 0;                // on an NVIDIA H200; 0: none
};

const std::vector<TuneCase>& TuneCases();

}  // namespace telemetry::bench
