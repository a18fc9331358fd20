#pragma once

#include <memory>
#include <utility>

#include "worker/debug/debug_options.h"
#include "worker/debug/value_debugger.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_memory.h"

namespace telemetry::worker::tune {

// Shows what configs read and write in the launch that is checked. Each launch is a program of its own, whose inputs
// are printed when a data set is put in place. Says which config it is, and under which number it was saved. One
// thread.
class LaunchDebugger {
 public:
  // Null at level 0. The memory must outlive it.
  static std::unique_ptr<LaunchDebugger> Create(const debug::DebugOptions& options, const ProblemMemory* memory,
                                                debug::DebugPrint print);

  // The data set is in place. The config was loaded: its buffers are the problem's.
  void BeforeLaunch(const wire::Config& config, int data_set);
  // The launch is over.
  void AfterLaunch(const wire::Config& config);

  // Says in a failure of that launch's results where NaNs begin, if there are any.
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

}  // namespace telemetry::worker::tune
