#include "server/export/render/layout.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace telemetry::exporter::render {

absl::StatusOr<Layout> ParseLayout(std::string_view name) {
  for (Layout layout : {Layout::kHelion, Layout::kPr2750, Layout::kPr2699, Layout::kV11, Layout::kKeyed, Layout::kT4,
                        Layout::kKernelTunerCache}) {
    if (name == LayoutName(layout)) return layout;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown layout '", std::string(name), "': use helion, pr2750, pr2699, v1.1, keyed, t4 or kernel-tuner-cache"));
}

std::string_view LayoutName(Layout layout) {
  if (layout == Layout::kT4) return "t4";
  if (layout == Layout::kKernelTunerCache) return "kernel-tuner-cache";
  const std::optional<record::sidecar::Dialect> dialect = RowDialect(layout);
  return dialect.has_value() ? record::sidecar::DialectName(*dialect) : "keyed";
}

std::optional<record::sidecar::Dialect> RowDialect(Layout layout) {
  switch (layout) {
    case Layout::kHelion:
      return record::sidecar::Dialect::kHelion;
    case Layout::kPr2750:
      return record::sidecar::Dialect::kPr2750;
    case Layout::kPr2699:
      return record::sidecar::Dialect::kPr2699;
    case Layout::kV11:
      return record::sidecar::Dialect::kV11;
    case Layout::kKeyed:
    case Layout::kT4:
    case Layout::kKernelTunerCache:
      break;
  }
  return std::nullopt;
}

bool IsOfKernelTuner(Layout layout) { return layout == Layout::kT4 || layout == Layout::kKernelTunerCache; }

bool NeedsDetails(Layout layout) { return IsOfKernelTuner(layout); }

bool HoldsOneRun(Layout layout) { return layout == Layout::kPr2699 || IsOfKernelTuner(layout); }

std::string_view PartSuffix(Part part, Layout layout) {
  switch (part) {
    case Part::kRows:
      if (layout == Layout::kT4) return ".t4.json";
      return layout == Layout::kKernelTunerCache ? ".cache.json" : ".csv";
    case Part::kSources:
      return ".sources.csv";
    case Part::kMeta:
      if (layout == Layout::kKeyed) return ".runs.jsonl";
      if (layout == Layout::kT4) return ".t4-metadata.json";
      return layout == Layout::kPr2699 ? ".meta.json" : ".meta.jsonl";
    case Part::kIr:
      return ".ir.jsonl";
    case Part::kWrapperIr:
      return ".wrapper.jsonl";
    case Part::kTrace:
      return ".trace.jsonl";
    case Part::kDetails:
      return ".details.jsonl";
    case Part::kAttempts:
      break;
  }
  return ".attempts.jsonl";
}

bool IsAlwaysWritten(Part part, Layout layout) {
  switch (part) {
    case Part::kRows:
    case Part::kAttempts:
      return true;
    case Part::kMeta:
      return layout == Layout::kHelion || layout == Layout::kPr2750 || layout == Layout::kKeyed ||
             layout == Layout::kT4;
    case Part::kSources:
    case Part::kIr:
    case Part::kWrapperIr:
    case Part::kTrace:
    case Part::kDetails:
      break;
  }
  return false;
}

}  // namespace telemetry::exporter::render
