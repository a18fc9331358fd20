#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/sidecar_row.h"

namespace telemetry::exporter {

// The form of an export's files: a sidecar dialect (FORMATS.md), or kKeyed, whose files all join by key (DATA.md).
enum class Layout { kHelion, kPr2750, kPr2699, kV11, kKeyed };

// INVALID_ARGUMENT: not one of "helion", "pr2750", "pr2699", "v1.1", "keyed".
absl::StatusOr<Layout> ParseLayout(std::string_view name);
std::string_view LayoutName(Layout layout);

// The dialect of the rows in the layout's .csv. Nullopt: they are no sidecar's (keyed_row.h).
std::optional<record::Dialect> RowDialect(Layout layout);

// What an export consists of. Which parts there are depends on the layout, on the data and on what is asked for.
enum class Part { kRows, kSources, kMeta, kIr, kWrapperIr, kAttempts, kDetails };
inline constexpr Part kAllParts[] = {Part::kRows,      Part::kSources,  Part::kMeta,   Part::kIr,
                                     Part::kWrapperIr, Part::kAttempts, Part::kDetails};
inline constexpr int kPartCount = 7;

// What stands behind the base path in the part's file name, compression aside: ".csv", ".meta.jsonl", ...
std::string_view PartSuffix(Part part, Layout layout);

// True for the parts that every export in this layout has, even where nothing is in them.
bool IsAlwaysWritten(Part part, Layout layout);

}  // namespace telemetry::exporter
