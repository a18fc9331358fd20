#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/kernel/settings.h"
#include "worker/kernels/library.h"
#include "worker/tune/search/effort.h"

namespace telemetry::worker::tune {

// What `run --suite FILE` tunes, a JSON object:
//
//   {"devices": ["cuda:0", "cuda:1"],            left out: all of the first device's kind
//    "effort": "quick",                          left out: as the command says
//    "kernels": [
//      {"kernel": "softmax", "args": ["x=4096x2560:f16"]},
//      {"kernel": "attention", "args": ["q=2x32x1024x64:f16", "causal=true"], "effort": "full",
//       "settings": {"dot_precision": "ieee"}},
//      {"kernel": "add"}]}                       default shapes
struct SuiteEntry {
  const kernels::LibraryKernel* kernel = nullptr;
  kernels::Problem problem;
  std::optional<Settings> settings;
  std::optional<Effort> effort;
};

struct Suite {
  std::vector<std::string> devices;
  std::optional<Effort> effort;
  std::vector<SuiteEntry> entries;
};

// INVALID_ARGUMENT says which entry and key, and what was expected.
absl::StatusOr<Suite> ParseSuite(std::string_view text);
// The same of a file, which the message names. NOT_FOUND: there is none.
absl::StatusOr<Suite> ReadSuite(const std::string& path);

}  // namespace telemetry::worker::tune
