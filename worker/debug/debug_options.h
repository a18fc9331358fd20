#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::worker::debug {

// What is done with the values around a launch.
enum class DebugLevel {
  kOff = 0,
  kSave = 1,   // every tensor, before and after, into a file
  kPrint = 2,  // every argument, before and after, as text
  kNames = 3,  // only the kernels' names
};

inline constexpr char kDefaultDebugFolder[] = "debug-values";

struct DebugOptions {
  DebugLevel level = DebugLevel::kOff;
  // Kernels whose values are saved or printed, compared without regard to case; none: all. At kNames all are printed.
  std::vector<std::string> kernels;
  std::string folder = kDefaultDebugFolder;  // of what is saved; made when the first file is

  bool is_on() const { return level != DebugLevel::kOff; }
};

// Where text goes, one line or several without the last one's end. From the thread that launches.
using DebugPrint = std::function<void(std::string_view text)>;

// "0" to "3"; "" is 0. INVALID_ARGUMENT says what the levels are.
absl::StatusOr<DebugLevel> ParseDebugLevel(std::string_view text);
// Of "softmax,layer_norm"; blanks around names do not count.
std::vector<std::string> SplitKernelNames(std::string_view text);

// TELEMETRY_WORKER_DEBUG_VALUES, _DEBUG_KERNELS, _DEBUG_DIR: what the worker's commands take as --debug-values and so
// on. INVALID_ARGUMENT names the variable.
absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment();

}  // namespace telemetry::worker::debug
