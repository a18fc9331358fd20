#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/value_debugger.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/memory_pool.h"
#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper::file {

// A runner of one plan at many shapes, on one device or on the host. Each shape has a PlanRunner, which keeps the
// compiled code of its kernels. On a device all shapes share one memory pool, which is as large as the largest of them
// needs. For use by one thread.
//
//   ASSIGN_OR_RETURN(auto plan, SymbolicPlan::Find("attention"));
//   ShapeRunner runner(plan, device);
//   ASSIGN_OR_RETURN(std::vector<Tensor> outputs, runner.Run({q, k, v}));  // the sizes are those of the tensors
class ShapeRunner {
 public:
  struct Options {
    size_t most_runners = 16;  // that are kept, at least 1; the one that was not used for the longest time is dropped
    bool plans_memory = true;
    MemoryScope scope = MemoryScope::kTheseSizes;  // of memory planning
    debug::ValueDebugger* debugger = nullptr;      // as for PlanRunner::Create()
    std::shared_ptr<device::Device> references = nullptr;
  };

  // If `device` is null, the plan runs on the host, without a pool.
  ShapeRunner(std::shared_ptr<const SymbolicPlan> plan, std::shared_ptr<device::Device> device)
      : ShapeRunner(std::move(plan), std::move(device), Options()) {}
  ShapeRunner(std::shared_ptr<const SymbolicPlan> plan, std::shared_ptr<device::Device> device, Options options);

  // Runs the plan at the shape of the inputs (SymbolicPlan::SizesOf). `sizes` are values of symbols that are no
  // dimension of an input; others must be those of the inputs. INVALID_ARGUMENT: the inputs or `sizes` give a symbol
  // two values, or a value out of its bounds, or the inputs do not match the plan at this shape. Other errors are those
  // of RunnerAt() and PlanRunner::Run(), which also says when the outputs can be read.
  absl::StatusOr<std::vector<runtime::Tensor>> Run(absl::Span<const runtime::Tensor> inputs,
                                                   const SymbolValues& sizes = {});

  // Returns the runner of a shape; symbols that are not given have their defaults. It stays valid when it is dropped
  // here, and must not be used at the same time as another one. Errors are those of SymbolicPlan::At(), PlanMemory()
  // and PlanRunner::Create().
  absl::StatusOr<std::shared_ptr<PlanRunner>> RunnerAt(const SymbolValues& sizes);

  // Returns the size of the memory pool so far.
  int64_t pool_bytes() const { return pool_ == nullptr ? 0 : pool_->bytes(); }
  size_t runner_count() const { return runners_.size(); }

 private:
  const std::shared_ptr<const SymbolicPlan> plan_;
  const std::shared_ptr<device::Device> device_;
  const Options options_;
  const std::shared_ptr<MemoryPool> pool_;  // null on the host
  // With the values of all symbols. The one that was used last is the first.
  std::list<std::pair<SymbolValues, std::shared_ptr<PlanRunner>>> runners_;
};

}  // namespace telemetry::worker::wrapper::file
