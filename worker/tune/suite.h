#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/kernels/library.h"
#include "worker/runtime/settings.h"
#include "worker/tune/search/effort.h"

namespace telemetry::worker::tune {

// One kernel of a suite. A suite is the JSON object in the file of `run --suite FILE`:
//
//   {"devices": ["cuda:0", "cuda:1"],            default: all devices of the same kind as the first one
//    "effort": "quick",                          default: the command's --effort
//    "kernels": [
//      {"kernel": "softmax", "args": ["x=4096x2560:f16"]},
//      {"kernel": "attention", "args": ["q=2x32x1024x64:f16", "causal=true"], "effort": "full",
//       "settings": {"dot_precision": "ieee"}},
//      {"spec": "conv.json"},                    a T1 specification, relative to the suite's folder
//      {"kernel": "add"}]}                       default shapes
struct SuiteEntry {
  const kernels::LibraryKernel* kernel = nullptr;  // null: `spec` is set
  std::string spec;                                // path of a T1 specification
  kernels::Problem problem;
  std::optional<runtime::Settings> settings;  // unset: the command's
  std::optional<search::Effort> effort;       // unset: the suite's

  // Returns the kernel with its arguments, or the path of the specification, for messages.
  std::string Name() const;
};

// The parsed form of a suite file.
struct Suite {
  std::vector<std::string> devices;      // ids such as "cuda:0"; empty: all devices of the same kind as the first one
  std::optional<search::Effort> effort;  // unset: the command's
  std::vector<SuiteEntry> entries;
};

// Returns INVALID_ARGUMENT, with the entry, the key and the expected value, if the text is not a suite.
absl::StatusOr<Suite> ParseSuite(std::string_view text);
// Reads and parses a suite file; the path is part of error messages. Returns NOT_FOUND if the file cannot be read.
absl::StatusOr<Suite> ReadSuite(const std::string& path);

}  // namespace telemetry::worker::tune
