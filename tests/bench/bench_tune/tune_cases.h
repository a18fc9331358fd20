#pragma once

#include <string>
#include <vector>

namespace telemetry::bench {

// A kernel that bench-tune tunes, with its arguments.
struct TuneCase {
  std::string kernel;
  std::vector<std::string> arguments;  // in the form of --arg
  double target_ms = 0;                // on an NVIDIA H200; 0: none
  bool is_large = false;               // a size for --large: of real models, or odd and small ones
};

const std::vector<TuneCase>& TuneCases();

}  // namespace telemetry::bench
