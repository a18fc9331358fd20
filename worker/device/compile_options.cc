#include "worker/device/compile_options.h"

#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::device {
namespace {

using record::Cat;

constexpr std::string_view kOptionMark = "// telemetry-option: ";
constexpr std::string_view kKernelMark = "// telemetry-kernel: ";

// Adds the options of a source. One that begins with `standard` replaces those that do.
std::vector<std::string> Merge(std::vector<std::string> options, std::string_view standard,
                               const SourceOptions& of_source) {
  for (const std::string& option : of_source.options) {
    if (option.starts_with(standard) || Cat("-", option).starts_with(standard)) {
      std::erase_if(options, [&](const std::string& own) { return own.starts_with(standard); });
    }
    options.push_back(option);
  }
  return options;
}

}  // namespace

std::vector<std::string> CudaCompileOptions(const std::string& architecture, const SourceOptions& of_source) {
  return Merge(CudaCompileOptions(architecture), "--std=", of_source);  // or -std=; NVRTC takes the option once
}

std::vector<std::string> OpenClCompileOptions(const SourceOptions& of_source) {
  return Merge({kOpenClCompileOptions}, "-cl-std=", of_source);
}

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
