#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/wrapper/file/plan_symbols.h"
#include "worker/wrapper/file/spec_kernel.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::file {

// Reads plans from JSON files; worker/wrapper/README.md describes the format.

// The limits of a plan file.
struct PlanFileLimits {
  static constexpr size_t kFileBytes = 1 << 20;
  static constexpr size_t kInputs = 256;
  static constexpr size_t kLines = 1000;  // including those of branches and subgraphs
  static constexpr size_t kOutputs = 256;
  static constexpr size_t kCallBuffers = 64;  // arguments of a call, likewise its outputs and numbers
  static constexpr size_t kDimensions = 8;
  static constexpr size_t kNameBytes = 100;
  static constexpr size_t kCommentBytes = 1000;
};

// The T1 specifications whose kernels a plan calls.
struct SpecFiles {
  std::string folder;        // paths of the plan are relative to it; empty: the current folder
  FindBestConfig find_best;  // empty: no config is known, and "best" is the default config
};

// Returns the plan that a text describes, for the given values of its symbols (plan_symbols.h). INVALID_ARGUMENT names
// the place: a text that is not JSON, an unknown member, a value beyond PlanFileLimits, an unknown kernel or buffer, a
// mistake that PlanBuilder reports, or a specification that ReadSpecKernel() refuses. If `specs` is null, no file is
// opened: a plan that calls the kernel of a specification is refused.
absl::StatusOr<Plan> ParsePlan(std::string_view json, const SymbolValues& sizes = {}, const SpecFiles* specs = nullptr);

// Reads a file. Specifications are found relative to its folder. Errors are those of ParsePlan() and
// spec::ReadFileBytes(), with the path.
absl::StatusOr<Plan> ReadPlan(const std::string& path, const SymbolValues& sizes = {},
                              const FindBestConfig& find_best = nullptr);

// A plan that comes with the worker, as an example.
struct SamplePlan {
  std::string_view name;
  std::string_view json;
};
// Returns them sorted by name.
absl::Span<const SamplePlan> SamplePlans();

// Returns the sample plan of this name. If there is none, reads the file at this path; NOT_FOUND lists the names.
absl::StatusOr<Plan> FindPlan(const std::string& name_or_path, const SymbolValues& sizes = {},
                              const FindBestConfig& find_best = nullptr);

}  // namespace telemetry::worker::wrapper::file
