#include "server/export/layout.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace telemetry::exporter {

absl::StatusOr<Layout> ParseLayout(std::string_view name) {
  for (Layout layout : {Layout::kHelion, Layout::kPr2750, Layout::kPr2699, Layout::kV11}) {
    if (name == LayoutName(layout)) return layout;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown layout '", std::string(name), "': use helion, pr2750, pr2699 or v1.1"));
}

std::string_view LayoutName(Layout layout) { return record::DialectName(RowDialect(layout)); }

record::Dialect RowDialect(Layout layout) {
  switch (layout) {
    case Layout::kHelion:
      return record::Dialect::kHelion;
    case Layout::kPr2750:
      return record::Dialect::kPr2750;
    case Layout::kPr2699:
      return record::Dialect::kPr2699;
    case Layout::kV11:
      break;
  }
  return record::Dialect::kV11;
}

std::string_view PartSuffix(Part part, Layout layout) {
  switch (part) {
    case Part::kRows:
      return ".csv";
    case Part::kSources:
      return ".sources.csv";
    case Part::kMeta:
      return layout == Layout::kPr2699 ? ".meta.json" : ".meta.jsonl";
    case Part::kIr:
      return ".ir.jsonl";
    case Part::kWrapperIr:
      return ".wrapper.jsonl";
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
      return layout == Layout::kHelion || layout == Layout::kPr2750;
    case Part::kSources:
    case Part::kIr:
    case Part::kWrapperIr:
    case Part::kDetails:
      break;
  }
  return false;
}

}  // namespace telemetry::exporter
