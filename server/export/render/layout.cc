#include "server/export/render/layout.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace telemetry::exporter::render {

absl::StatusOr<Layout> ParseLayout(std::string_view name) {
  for (Layout layout : {Layout::kHelion, Layout::kPr2750, Layout::kPr2699, Layout::kV11, Layout::kKeyed}) {
    if (name == LayoutName(layout)) return layout;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown layout '", std::string(name), "': use helion, pr2750, pr2699, v1.1 or keyed"));
}

std::string_view LayoutName(Layout layout) {
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
      break;
  }
  return std::nullopt;
}

std::string_view PartSuffix(Part part, Layout layout) {
  switch (part) {
    case Part::kRows:
      return ".csv";
    case Part::kSources:
      return ".sources.csv";
    case Part::kMeta:
      if (layout == Layout::kKeyed) return ".runs.jsonl";
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
      return layout == Layout::kHelion || layout == Layout::kPr2750 || layout == Layout::kKeyed;
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
