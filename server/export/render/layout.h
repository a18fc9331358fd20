#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::exporter::render {

// The form of an export's files: a sidecar dialect (FORMATS.md), kKeyed, whose files can be joined by keys, or a form
// of Kernel Tuner: kT4 and kKernelTunerCache (DATA.md).
enum class Layout { kHelion, kPr2750, kPr2699, kV11, kKeyed, kT4, kKernelTunerCache };

// Returns INVALID_ARGUMENT unless `name` is "helion", "pr2750", "pr2699", "v1.1", "keyed", "t4" or
// "kernel-tuner-cache".
absl::StatusOr<Layout> ParseLayout(std::string_view name);
std::string_view LayoutName(Layout layout);

// Returns the dialect of the rows in the layout's .csv, or nullopt if they are not sidecar rows (keyed_row.h).
std::optional<record::sidecar::Dialect> RowDialect(Layout layout);

// Returns true for the layouts of Kernel Tuner (kernel_tuner_text.h).
bool IsOfKernelTuner(Layout layout);

// Returns true if the layout needs the rows' details even if the export has no part for them.
bool NeedsDetails(Layout layout);

// Returns true if a file of the layout can hold only one run.
bool HoldsOneRun(Layout layout);

// The parts of an export. The layout, the data and the options determine the parts that are written.
enum class Part { kRows, kSources, kMeta, kIr, kWrapperIr, kTrace, kAttempts, kDetails };
inline constexpr Part kAllParts[] = {Part::kRows,      Part::kSources, Part::kMeta,     Part::kIr,
                                     Part::kWrapperIr, Part::kTrace,   Part::kAttempts, Part::kDetails};
inline constexpr int kPartCount = 8;

// Returns the suffix of the part's file name without the compression suffix: ".csv", ".meta.jsonl", ...
std::string_view PartSuffix(Part part, Layout layout);

// Returns true for the parts that every export in this layout has, even if they are empty.
bool IsAlwaysWritten(Part part, Layout layout);

}  // namespace telemetry::exporter::render
