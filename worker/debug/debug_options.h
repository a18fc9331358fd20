#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::worker::debug {

// The action of the debugger around each launch.
enum class DebugLevel {
  kOff = 0,
  kSave = 1,   // saves every tensor to a file, before and after the launch
  kPrint = 2,  // prints every argument, before and after the launch
  kNames = 3,  // prints only the name of the kernel
};

inline constexpr char kDefaultDebugFolder[] = "debug-values";

// The options of ValueDebugger.
struct DebugOptions {
  DebugLevel level = DebugLevel::kOff;
  // Kernels whose values are saved or printed, compared case-insensitively; empty: all. kNames prints all kernels.
  std::vector<std::string> kernels;
  std::string folder = kDefaultDebugFolder;  // of the saved tensors; created with the first file

  bool is_on() const { return level != DebugLevel::kOff; }
};

// Receives the text to print: one or more lines, without the last newline. Called on the thread that launches.
using DebugPrint = std::function<void(std::string_view text)>;

// Parses "0" to "3"; "" is 0. Returns INVALID_ARGUMENT, with the list of levels, for other texts.
absl::StatusOr<DebugLevel> ParseDebugLevel(std::string_view text);
// Splits a list such as "softmax,layer_norm" and strips blanks around names.
std::vector<std::string> SplitKernelNames(std::string_view text);

// Reads TELEMETRY_WORKER_DEBUG_VALUES, _DEBUG_KERNELS and _DEBUG_DIR, which correspond to the worker's flags
// --debug-values, --debug-kernels and --debug-dir. Returns INVALID_ARGUMENT, with the variable's name, if a value is
// invalid.
absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment();

}  // namespace telemetry::worker::debug
