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

// Reads plans from JSON files, for one shape; worker/wrapper/README.md describes the format. SymbolicPlan
// (symbolic_plan.h) reads a file once for many shapes.

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

// Returns the plan that a text describes, for the given values of its symbols (plan_symbols.h). Errors are those of
// SymbolicPlan::Parse() and SymbolicPlan::At(). If `specs` is null, no file is opened: a plan that calls the kernel of
// a specification is refused.
absl::StatusOr<Plan> ParsePlan(std::string_view json, const SymbolValues& sizes = {}, const SpecFiles* specs = nullptr);

// Reads a file. Specifications are found relative to its folder. Errors are those of SymbolicPlan::Read()
// and SymbolicPlan::At().
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
