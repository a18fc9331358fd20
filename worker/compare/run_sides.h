#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "worker/compare/attempt_times.h"

namespace telemetry::worker::compare {

// The runs that count as the same one: other versions of a kernel's source have other run_ids, but equal keys.
struct RunKey {
  std::string kernel_name;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;  // empty if devices are compared
  std::string settings_signature;

  friend bool operator<(const RunKey& a, const RunKey& b) {
    const auto tie = [](const RunKey& key) {
      return std::tie(key.kernel_name, key.input_shapes, key.dtypes, key.hardware, key.settings_signature);
    };
    return tie(a) < tie(b);
  }
};

// The attempts of a run on both sides, in the order of the dataset.
struct RunSides {
  RunKey key;
  std::vector<AttemptTimes> base;
  std::vector<AttemptTimes> head;
};

}  // namespace telemetry::worker::compare
