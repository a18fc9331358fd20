// Fuzzes plan files: any file is refused with a message, or gives a plan that memory planning improves or leaves as it
// is.

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/verify_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::worker::wrapper;
  using telemetry::fuzz::Require;
  const absl::StatusOr<Plan> plan = file::ParsePlan(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!plan.ok()) {
    Require(!plan.status().message().empty() && plan.status().message().size() < 4096, "an error has a short message");
    return 0;
  }
  Require(VerifyPlan(*plan).ok(), "a plan that is read can be run");
  const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
  Require(planned.ok() && planned->peak_bytes_after <= planned->peak_bytes_before, "planning never raises the peak");
  Require(VerifyPlan(planned->plan).ok(), "a planned plan can be run");
  const absl::StatusOr<MemoryPlan> for_all = PlanMemory(*plan, MemoryScope::kAllSizes);
  Require(for_all.ok() && for_all->peak_bytes_after <= for_all->peak_bytes_before,
          "planning for all sizes never raises the peak");
  return 0;
}
