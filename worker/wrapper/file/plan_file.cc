#include "worker/wrapper/file/plan_file.h"

#include <memory>

#include "proto/base/status_macros.h"
#include "worker/wrapper/file/symbolic_plan.h"

namespace telemetry::worker::wrapper::file {

absl::StatusOr<Plan> ParsePlan(std::string_view json, const SymbolValues& sizes, const SpecFiles* specs) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> plan,
                   specs == nullptr ? SymbolicPlan::Parse(json) : SymbolicPlan::Parse(json, *specs));
  return plan->At(sizes);
}

absl::StatusOr<Plan> ReadPlan(const std::string& path, const SymbolValues& sizes, const FindBestConfig& find_best) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> plan, SymbolicPlan::Read(path, find_best));
  return plan->At(sizes);
}

absl::StatusOr<Plan> FindPlan(const std::string& name_or_path, const SymbolValues& sizes,
                              const FindBestConfig& find_best) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> plan, SymbolicPlan::Find(name_or_path, find_best));
  return plan->At(sizes);
}

}  // namespace telemetry::worker::wrapper::file
