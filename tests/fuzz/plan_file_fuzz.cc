// Fuzzes plan files: any file is refused with a message, or gives plans that memory planning improves or leaves as they
// are, with the default sizes and with the smallest ones.

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/memory_layout.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/verify_plan.h"

namespace {

using namespace telemetry::worker::wrapper;
using telemetry::fuzz::Require;

void RequireMessage(const absl::Status& status) {
  Require(!status.message().empty() && status.message().size() < 4096, "an error has a short message");
}

void CheckPlan(const absl::StatusOr<Plan>& plan) {
  if (!plan.ok()) return RequireMessage(plan.status());
  Require(VerifyPlan(*plan).ok(), "a plan that is read can be run");
  const absl::StatusOr<MemoryPlan> planned = PlanMemory(*plan);
  Require(planned.ok() && planned->peak_bytes_after <= planned->peak_bytes_before, "planning never raises the peak");
  Require(VerifyPlan(planned->plan).ok(), "a planned plan can be run");
  const absl::StatusOr<MemoryPlan> for_all = PlanMemory(*plan, MemoryScope::kAllSizes);
  Require(for_all.ok() && for_all->peak_bytes_after <= for_all->peak_bytes_before,
          "planning for all sizes never raises the peak");
  const MemoryLayout layout = LayOutMemory(planned->plan);
  for (size_t i = 0; i < layout.offsets.size(); ++i) {
    const int64_t offset = layout.offsets[i];
    Require(offset < 0 || offset + planned->plan.buffers[i].bytes() <= layout.bytes, "buffers are inside of the block");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto plan = file::SymbolicPlan::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!plan.ok()) {
    RequireMessage(plan.status());
    return 0;
  }
  CheckPlan((*plan)->At({}));
  file::SymbolValues smallest;
  for (const PlanSymbol& symbol : (*plan)->symbols()) smallest[symbol.name] = symbol.min;
  CheckPlan((*plan)->At(smallest));
  return 0;
}
