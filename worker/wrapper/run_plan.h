#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/value_debugger.h"
#include "worker/ir/graph.h"
#include "worker/runtime/kernel.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/memory_pool.h"
#include "worker/wrapper/run_memory.h"
#include "worker/wrapper/source_function.h"

namespace telemetry::worker::wrapper {

// A runner of a plan, line by line, on a device or on the host. On a device, kernels are launched and compiled once, at
// their first call. The library of the device computes extern kernels (Device::Multiply). If it does not have a kernel,
// the reference computes it on the host, with copies from and to the device; likewise IndexPut, Scatter and
// Concatenate. On the host, kernels are evaluated from their IR (ir/reference), which is for inspecting results, not
// for speed. Only one Run() may be active at a time.
class PlanRunner {
 public:
  // Creates a runner. If `device` is null, the plan runs on the host. `debugger` sees the inputs of each Run() and the
  // values that its calls read and write; the runner then waits for each call. If the debugger shows values, new memory
  // is filled with NaN, -1 or true. `debugger` must outlive the runner. If it is null, calls have no extra cost. On the
  // host, `references` runs the references of kernels that are given as source; it may be null if there are none. With
  // a `pool` of the device, runs allocate only their outputs, if the pool has a block that is large enough
  // (memory_pool.h); runners that share a pool must not be used at the same time.
  // Errors are those of VerifyPlan(), of traces and of Kernel::Create(). INVALID_ARGUMENT also: a kernel is given as
  // source in another language than that of the device, or the pool belongs to another device.
  static absl::StatusOr<std::unique_ptr<PlanRunner>> Create(Plan plan, std::shared_ptr<device::Device> device,
                                                            debug::ValueDebugger* debugger = nullptr,
                                                            std::shared_ptr<device::Device> references = nullptr,
                                                            std::shared_ptr<MemoryPool> pool = nullptr);

  // Runs the plan. Inputs and outputs are in the order of the plan, on the device or on the host. An input that only
  // conditionals read (FindScalarInputs) may be on the host in both cases. Run() only queues the work, but waits where
  // the predicate of a conditional is on the device: synchronise before reading the outputs and before the program
  // ends. After an error no work is queued any more. The memory of an output may be larger than the output.
  // INVALID_ARGUMENT: the inputs do not match the plan, or, on a device, a view begins where no buffer can begin
  // (kViewAlignment). Other errors are those of kernels and device; they name the line.
  absl::StatusOr<std::vector<runtime::Tensor>> Run(absl::Span<const runtime::Tensor> inputs);

  const Plan& plan() const { return plan_; }

 private:
  PlanRunner(Plan plan, std::shared_ptr<device::Device> device, debug::ValueDebugger* debugger,
             std::shared_ptr<device::Device> references, std::shared_ptr<MemoryPool> pool);

  absl::Status Prepare();
  // Runs a line and returns the index of the next one.
  absl::StatusOr<size_t> RunLine(size_t index);
  absl::Status RunCall(const Line& line);
  absl::Status RunDebugged(const Line& line);
  absl::Status PutIndexed(const IndexPut& put);
  absl::Status ScatterValues(const Scatter& scatter);
  absl::Status JoinTensors(const Concatenate& line);
  absl::Status LaunchKernel(const KernelCall& call);
  absl::Status LaunchSource(const KernelCall& call);
  absl::Status EvaluateKernel(const KernelCall& call);
  absl::Status EvaluateSource(const KernelCall& call);
  // Calls the library of the device. If it does not have the kernel, evaluates the kernel's reference.
  absl::Status RunExtern(const KernelCall& call);
  absl::Status CallLibrary(const KernelCall& call);
  absl::Status EvaluateExtern(const KernelCall& call);

  const Plan plan_;
  const std::shared_ptr<device::Device> device_;
  debug::ValueDebugger* const debugger_;
  const std::shared_ptr<device::Device> references_;
  std::vector<std::unique_ptr<runtime::Kernel>> kernels_;  // on a device, by index in the plan
  std::vector<ir::DeviceIr> irs_;                          // on the host, likewise
  std::vector<std::unique_ptr<SourceFunction>> sources_;   // on a device, likewise: those that are given as source
  const std::vector<size_t> jumps_;                        // by line (Subgraphs::jumps)
  RunMemory memory_;
};

}  // namespace telemetry::worker::wrapper
