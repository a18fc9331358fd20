#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/value_debugger.h"
#include "worker/ir/graph.h"
#include "worker/kernel/kernel.h"
#include "worker/kernel/tensor.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/run_memory.h"

namespace telemetry::worker::wrapper {

// Runs a plan line by line, on a device or on the host. On a device kernels are launched (compiled once, at their first
// call), and extern kernels are computed by the device's library (Device::Multiply) or, where it has them not, by their
// reference on the host, with copies there and back. On the host
// kernels are their IR evaluated (ir/reference.h), which is for looking at results, not for speed. One Run at a time.
class PlanRunner {
 public:
  // `device` null: on the host. `debugger` is shown the inputs of each Run and what its calls read and write, each of
  // which is waited for then; it has to outlive this. Null: a call costs nothing more. Errors are VerifyPlan's, those
  // of traces, and Kernel::Create's.
  static absl::StatusOr<std::unique_ptr<PlanRunner>> Create(Plan plan, std::shared_ptr<Device> device,
                                                            debug::ValueDebugger* debugger = nullptr);

  // Inputs and outputs in the plan's order, on the device or on the host. Queues: synchronise before reading, and
  // before the program ends; after an error nothing is queued any more. Outputs may have more memory behind them than
  // they show. INVALID_ARGUMENT: inputs that are not the plan's, or, on a device, a view that begins where no buffer
  // can (kViewAlignment). Other errors are those of kernels and device; they name the line.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs);

  const Plan& plan() const { return plan_; }

 private:
  PlanRunner(Plan plan, std::shared_ptr<Device> device, debug::ValueDebugger* debugger);

  absl::Status Prepare();
  absl::Status RunLine(const Line& line);
  absl::Status RunCall(const Line& line, const KernelCall& call);
  absl::Status RunDebugged(const Line& line, const KernelCall& call);
  absl::Status LaunchKernel(const KernelCall& call);
  absl::Status EvaluateKernel(const KernelCall& call);
  // By the device's library where it has the kernel, else evaluated.
  absl::Status RunExtern(const KernelCall& call);
  absl::Status CallLibrary(const KernelCall& call);
  absl::Status EvaluateExtern(const KernelCall& call);

  const Plan plan_;
  const std::shared_ptr<Device> device_;
  debug::ValueDebugger* const debugger_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  // on a device, by index in the plan
  std::vector<ir::DeviceIr> irs_;                 // on the host, likewise
  RunMemory memory_;
};

}  // namespace telemetry::worker::wrapper
