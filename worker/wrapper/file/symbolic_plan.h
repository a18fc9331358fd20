#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/record/json.h"
#include "worker/wrapper/file/plan_symbols.h"
#include "worker/wrapper/file/spec_kernel.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::file {

// A plan whose sizes are expressions of symbols: a plan file that is read once, and gives the plan for any values of
// its symbols. Immutable and safe to share between threads.
//
//   ASSIGN_OR_RETURN(auto plan, SymbolicPlan::Read("attention.json"));
//   for (int64_t keys : {16, 64, 256}) { ASSIGN_OR_RETURN(Plan of_shape, plan->At({{"keys", keys}})); ... }
class SymbolicPlan {
 public:
  // Parses the text of a plan file. INVALID_ARGUMENT: it is longer than PlanFileLimits::kFileBytes or is no JSON, or
  // the symbols are not described as worker/wrapper/README.md says. Other mistakes are errors of At(), because they may
  // depend on the sizes. Without `specs` no file is opened.
  static absl::StatusOr<std::shared_ptr<const SymbolicPlan>> Parse(std::string_view json,
                                                                   std::optional<SpecFiles> specs = std::nullopt);
  // Reads a file. Specifications are found relative to its folder. Errors are those of Parse() and
  // spec::ReadFileBytes(), with the path.
  static absl::StatusOr<std::shared_ptr<const SymbolicPlan>> Read(const std::string& path,
                                                                  FindBestConfig find_best = nullptr);
  // Returns the sample plan of this name. If there is none, reads the file at this path; NOT_FOUND lists the names.
  static absl::StatusOr<std::shared_ptr<const SymbolicPlan>> Find(const std::string& name_or_path,
                                                                  FindBestConfig find_best = nullptr);

  // Returns the symbols, each with its bounds and, as the value, its default.
  const std::vector<PlanSymbol>& symbols() const { return symbols_; }

  // Returns the plan for these values; a symbol that is not given has its default. INVALID_ARGUMENT names the place: a
  // value out of the bounds of its symbol, or a symbol that the plan does not have; an unknown member, a value beyond
  // PlanFileLimits, an unknown kernel or buffer, a mistake that PlanBuilder reports, or a specification that
  // ReadSpecKernel() refuses, or that is not opened.
  absl::StatusOr<Plan> At(const SymbolValues& sizes) const;

  // Returns the values of the symbols that are a dimension of an input, such as "keys" of ["2 * queries", "keys"], from
  // the sizes of the inputs. INVALID_ARGUMENT: the number of inputs or of their dimensions is another one, or two
  // dimensions give a symbol different values.
  absl::StatusOr<SymbolValues> SizesOf(absl::Span<const std::vector<int64_t>> inputs) const;

 private:
  // A dimension of an input that is a symbol.
  struct SymbolDimension {
    size_t input = 0;
    size_t dimension = 0;
    std::string symbol;
  };

  SymbolicPlan(record::Json root, std::optional<SpecFiles> specs, std::string path);

  static absl::StatusOr<std::shared_ptr<const SymbolicPlan>> Make(std::string_view json, std::optional<SpecFiles> specs,
                                                                  const std::string& path);
  absl::Status ReadHead();
  absl::StatusOr<Plan> Build(const SymbolValues& sizes) const;

  const record::Json root_;
  const std::unique_ptr<SpecKernels> kernels_;  // null: no file is opened
  const std::string path_;                      // of the file; empty: none
  std::vector<PlanSymbol> symbols_;
  std::vector<std::string> inputs_;       // names
  std::vector<size_t> input_dimensions_;  // number of dimensions, by input
  std::vector<SymbolDimension> symbol_dimensions_;
};

}  // namespace telemetry::worker::wrapper::file
