#pragma once

#include <memory>
#include <utility>

#include "worker/debug/debug_options.h"
#include "worker/debug/value_debugger.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_memory.h"

namespace telemetry::worker::tune::measure {

// Shows the values that configs read and write in the launch that is checked. Each launch is a program of its own; its
// inputs are printed when a data set is loaded. Prints the config and the number under which its launch was saved.
// Single-threaded.
class LaunchDebugger {
 public:
  // Returns null at level 0. `memory` must outlive the debugger.
  static std::unique_ptr<LaunchDebugger> Create(const debug::DebugOptions& options, const ProblemMemory* memory,
                                                debug::DebugPrint print);

  // Call before the launch, after the data set and the config were loaded.
  void BeforeLaunch(const wire::Config& config, int data_set);
  // Call after the launch has finished.
  void AfterLaunch(const wire::Config& config);

  // Adds the place of the first NaN, if there is one, to the message of a failure of that launch's results.
  void AddFirstNan(wire::Failure* failure) const;

 private:
  LaunchDebugger(std::unique_ptr<debug::ValueDebugger> debugger, debug::DebugLevel level, const ProblemMemory* memory,
                 debug::DebugPrint print)
      : debugger_(std::move(debugger)), level_(level), memory_(memory), print_(std::move(print)) {}

  const std::unique_ptr<debug::ValueDebugger> debugger_;
  const debug::DebugLevel level_;
  const ProblemMemory* const memory_;
  const debug::DebugPrint print_;
  int data_set_ = -1;
};

}  // namespace telemetry::worker::tune::measure
