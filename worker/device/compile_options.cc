#include "worker/device/compile_options.h"

#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::device {
namespace {

constexpr std::string_view kOptionMark = "// telemetry-option: ";
constexpr std::string_view kKernelMark = "// telemetry-kernel: ";

}  // namespace

std::string FormatSourceOptions(const SourceOptions& options) {
  std::string lines;
  for (const std::string& option : options.options) lines += record::Cat(kOptionMark, option, "\n");
  if (!options.kernel.empty()) lines += record::Cat(kKernelMark, options.kernel, "\n");
  return lines;
}

SourceOptions ReadSourceOptions(std::string_view source) {
  SourceOptions options;
  while (true) {
    const size_t end = source.find('\n');
    std::string_view line = source.substr(0, end);
    if (record::TakePrefix(kOptionMark, &line)) {
      options.options.emplace_back(line);
    } else if (record::TakePrefix(kKernelMark, &line)) {
      options.kernel = std::string(line);
    } else {
      return options;
    }
    if (end == std::string_view::npos) return options;
    source.remove_prefix(end + 1);
  }
}

}  // namespace telemetry::worker::device
