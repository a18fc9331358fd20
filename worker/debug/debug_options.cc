#include "worker/debug/debug_options.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "proto/record/strings.h"

namespace telemetry::worker::debug {
namespace {

using record::AbslView;
using record::Cat;

constexpr char kLevelVariable[] = "TELEMETRY_WORKER_DEBUG_VALUES";
constexpr char kKernelsVariable[] = "TELEMETRY_WORKER_DEBUG_KERNELS";
constexpr char kFolderVariable[] = "TELEMETRY_WORKER_DEBUG_DIR";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

absl::StatusOr<DebugLevel> ParseDebugLevel(std::string_view text) {
  if (text.empty()) return DebugLevel::kOff;
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') return static_cast<DebugLevel>(text[0] - '0');
  return absl::InvalidArgumentError(
      Cat("invalid level \"", text, "\": 0 is off, 1 saves values, 2 prints them, 3 prints kernel names"));
}

std::vector<std::string> SplitKernelNames(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& part : absl::StrSplit(AbslView(text), ',')) {
    std::string name(absl::StripAsciiWhitespace(part));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment() {
  absl::StatusOr<DebugLevel> level = ParseDebugLevel(Variable(kLevelVariable));
  if (!level.ok()) return absl::InvalidArgumentError(Cat(kLevelVariable, ": ", level.status().message()));
  DebugOptions options = {.level = *level, .kernels = SplitKernelNames(Variable(kKernelsVariable))};
  if (std::string folder = Variable(kFolderVariable); !folder.empty()) options.folder = std::move(folder);
  return options;
}

}  // namespace telemetry::worker::debug
