#pragma once

#include <string>

#include "worker/codegen/config.h"
#include "worker/replay/stored_run.h"

namespace telemetry::worker::replay {

inline codegen::Config ConfigOf(const std::string& text) { return codegen::Config::Parse(text).value(); }

// Returns a run of 8 * 8 * 4 configs whose times have a single valley at a=32, b=4, c=2. Configs with a * b above 4096
// fail. Each config costs one second.
inline StoredRun ValleyRun() {
  StoredRun run = {.run_id = std::string(64, 'a'), .kernel_name = "valley", .hardware = "H200", .configs = {}};
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      for (int c = 0; c < 4; ++c) {
        StoredConfig stored = {.config = ConfigOf("Config(a=" + std::to_string(1 << a) +
                                                  ", b=" + std::to_string(1 << b) + ", c=" + std::to_string(c) + ")"),
                               .cost_s = 1};
        if (a + b <= 12) stored.perf_ms = 1 + 0.5 * (a - 5) * (a - 5) + 0.3 * (b - 2) * (b - 2) + (c - 2) * (c - 2);
        run.configs.push_back(stored);
      }
    }
  }
  return run;
}

}  // namespace telemetry::worker::replay
