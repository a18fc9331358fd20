#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/debug/debug_options.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::program {

// The debug calls of a program, independent of the language. They print and save the same bytes as debug::ValueDebugger
// when a PlanRunner runs the plan.

// A tensor or number that a debug call shows.
struct DebugArgument {
  std::string name;    // the kernel's name
  int buffer = -1;     // of a tensor; -1: a number
  std::string memory;  // of a tensor of a call: the buffer that owns its memory
  bool is_output = false;
  std::string number;  // text of a number, such as "0.5 (float)"
};

// The debug calls around one call of a kernel.
struct DebugCall {
  std::string kernel;
  bool shows_values = false;             // before and after the call
  std::vector<DebugArgument> arguments;  // if values are shown: arguments, numbers and outputs
  std::vector<std::string> written;      // buffers whose memory the call writes; empty at level kNames
};

// Returns the debug calls around a line, or nullopt if the line is no call (IsCall) or the level is kOff. The plan must
// be verified.
std::optional<DebugCall> MakeDebugCall(const Plan& plan, const std::vector<Place>& places,
                                       const debug::DebugOptions& options, const Line& line);

// Returns the inputs of the program that are shown first; empty if the level is not kPrint.
std::vector<DebugArgument> MakeDebugInputs(const Plan& plan, const debug::DebugOptions& options);

}  // namespace telemetry::worker::wrapper::program
